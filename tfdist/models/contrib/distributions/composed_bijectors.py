"""tf.contrib.distributions.bijectors: linear ones, and those made of others.

Source: TF 1.15 API documentation, tf.contrib.distributions.bijectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.contrib.distributions.bijectors import Bijector
from tfdist.models.distributions.math import abs as abs_
from tfdist.models.distributions.math import log, reduce_sum
from tfdist.ops.array.gather import gather
from tfdist.ops.array.shape import shape
from tfdist.ops.linalg.diag import matrix_diag, matrix_diag_part
from tfdist.ops.linalg.solve import matrix_triangular_solve
from tfdist.ops.math.matmul import matmul

__all__ = ["Affine", "AffineScalar", "Chain", "Inline", "Invert", "Permute"]


class AffineScalar(Bijector):
    """scale * x + shift, number by number.

    Example:
      >>> bijector = contrib.distributions.bijectors.AffineScalar(shift=1.0, scale=2.0)
      >>> Session().run(bijector.forward(3.0))
      np.float32(7.0)
    """

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:  # fmt: skip
        super().__init__(None, True, validate_args, None, 0, None, name)
        self.shift = None if shift is None else convert_to_tensor(shift)
        self.scale = None if scale is None else convert_to_tensor(scale)

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return convert_to_tensor(0, x.dtype)
        return log(abs_(self.scale))


class Affine(Bijector):
    """scale @ x + shift, of vectors; the scale is the sum of what is given, 1 if nothing is.

    Args:
      shift: [n].
      scale_identity_multiplier: a number.
      scale_diag: [n].
      scale_tril: [n, n], lower triangular.
      scale_perturb_factor: must be None.
      scale_perturb_diag: must be None.
      validate_args: taken, and nothing is checked.
      name: prefix for its nodes.

    Raises:
      NotImplementedError: there is a perturbation.

    Example:
      >>> bijector = contrib.distributions.bijectors.Affine([1.0, 2.0], scale_diag=[2.0, 3.0])
      >>> Session().run(bijector.forward([1.0, 1.0]))
      array([3., 5.], dtype=float32)
    """

    def __init__(
        self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
        scale_tril: Any = None, scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
        validate_args: bool = False, name: str = "affine",
    ) -> None:  # fmt: skip
        if scale_perturb_factor is not None or scale_perturb_diag is not None:
            raise NotImplementedError("Affine has no perturbations here; give scale_tril")
        super().__init__(None, True, validate_args, None, 1, None, name)
        self.shift = None if shift is None else convert_to_tensor(shift, name="shift")
        self._diagonal: Any = None
        if scale_diag is not None:
            self._diagonal = convert_to_tensor(scale_diag, name="scale_diag")
        if scale_identity_multiplier is not None:
            part = raw.ExpandDims(convert_to_tensor(scale_identity_multiplier), -1)
            self._diagonal = part if self._diagonal is None else self._diagonal + part
        self._tril: Any = None
        if scale_tril is not None:
            self._tril = raw.MatrixBandPart(convert_to_tensor(scale_tril), -1, 0)
            if self._diagonal is not None:
                size = raw.ZerosLike(matrix_diag_part(self._tril))
                self._tril = self._tril + matrix_diag(self._diagonal + size)

    def _forward(self, x: Any) -> Any:
        if self._tril is not None:
            y: Any = raw.Squeeze(matmul(self._wide(x), raw.ExpandDims(x, -1)), squeeze_dims=[-1])
        else:
            y = x if self._diagonal is None else x * self._diagonal
        return y if self.shift is None else y + self.shift

    def _wide(self, vectors: Any) -> Any:
        lead: Any = shape(vectors)
        return raw.BroadcastTo(self._tril, raw.ConcatV2([lead, lead[-1:]], 0))

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        if self._tril is not None:
            column = raw.ExpandDims(x, -1)
            return raw.Squeeze(matrix_triangular_solve(self._wide(x), column), squeeze_dims=[-1])
        return x if self._diagonal is None else x / self._diagonal

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._tril is not None:
            return reduce_sum(log(abs_(matrix_diag_part(self._tril))), -1)
        if self._diagonal is None:
            return convert_to_tensor(0, x.dtype)
        return reduce_sum(log(abs_(self._diagonal)) + raw.ZerosLike(x), -1)


class Permute(Bijector):
    """The numbers of a vector in another order.

    Example:
      >>> Session().run(contrib.distributions.bijectors.Permute([2, 0, 1]).forward([7, 8, 9]))
      array([9, 7, 8], dtype=int32)
    """

    def __init__(
        self, permutation: Any, validate_args: bool = False, name: str | None = None
    ) -> None:
        super().__init__(None, True, validate_args, None, 1, None, name or "permute")
        self.permutation = convert_to_tensor(permutation, name="permutation")

    def _forward(self, x: Any) -> Any:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, raw.InvertPermutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0, x.dtype)


class Invert(Bijector):
    """The inverse of another bijector.

    Example:
      >>> exp_of = contrib.distributions.bijectors.Exp()
      >>> Session().run(contrib.distributions.bijectors.Invert(exp_of).forward(1.0))
      np.float32(0.0)
    """

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: Any = None) -> None:
        super().__init__(
            None, bijector.is_constant_jacobian, validate_args, bijector.dtype,
            bijector.inverse_min_event_ndims, bijector.forward_min_event_ndims,
            name or f"invert_{bijector.name}",
        )  # fmt: skip
        self.bijector = bijector

    def _forward(self, x: Any) -> Any:
        return self.bijector._inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self.bijector._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y)


class Chain(Bijector):
    """Bijectors one after the other; the last one in the list is the first to run.

    Example:
      >>> B = contrib.distributions.bijectors
      >>> Session().run(B.Chain([B.Exp(), B.AffineScalar(1.0)]).inverse(1.0))
      np.float32(-1.0)
    """

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.bijectors = list(bijectors or ())
        least = max((each.forward_min_event_ndims for each in self.bijectors), default=0)
        constant = all(each.is_constant_jacobian for each in self.bijectors)
        made = "_of_".join(["chain", *(each.name for each in self.bijectors)])
        name = name or (made if self.bijectors else "identity")
        super().__init__(None, constant, validate_args, None, least, None, name)

    def _forward(self, x: Any) -> Any:
        for each in reversed(self.bijectors):
            x = each._forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in self.bijectors:
            y = each._inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total = convert_to_tensor(0, x.dtype)
        for each in reversed(self.bijectors):
            found = each._forward_log_det_jacobian(x)
            total = total + each._summed(
                found, self.forward_min_event_ndims - each.forward_min_event_ndims, x
            )
            x = each._forward(x)
        return total

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        total = convert_to_tensor(0, y.dtype)
        for each in self.bijectors:
            found = each._inverse_log_det_jacobian(y)
            total = total + each._summed(
                found, self.inverse_min_event_ndims - each.inverse_min_event_ndims, y
            )
            y = each._inverse(y)
        return total


class Inline(Bijector):
    """A bijector made of functions.

    Args:
      forward_fn: the function.
      inverse_fn: its inverse.
      inverse_log_det_jacobian_fn: the logarithm of how volumes grow by the inverse.
      forward_log_det_jacobian_fn: the same of the function.
      forward_event_shape_fn: accepted for TensorFlow's sake.
      forward_event_shape_tensor_fn: accepted for TensorFlow's sake.
      inverse_event_shape_fn: accepted for TensorFlow's sake.
      inverse_event_shape_tensor_fn: accepted for TensorFlow's sake.
      is_constant_jacobian: see `Bijector`.
      validate_args: see `Bijector`.
      forward_min_event_ndims: see `Bijector`.
      inverse_min_event_ndims: see `Bijector`.
      name: see `Bijector`.

    Example:
      >>> double = contrib.distributions.bijectors.Inline(
      ...     lambda x: x * 2.0, lambda y: y / 2.0, forward_min_event_ndims=0
      ... )
      >>> Session().run(double.inverse(4.0))
      np.float32(2.0)
    """

    def __init__(
        self, forward_fn: Callable[..., Any] | None = None, inverse_fn: Any = None,
        inverse_log_det_jacobian_fn: Any = None, forward_log_det_jacobian_fn: Any = None,
        forward_event_shape_fn: Any = None, forward_event_shape_tensor_fn: Any = None,
        inverse_event_shape_fn: Any = None, inverse_event_shape_tensor_fn: Any = None,
        is_constant_jacobian: bool = False, validate_args: bool = False,
        forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:  # fmt: skip
        super().__init__(None, is_constant_jacobian, validate_args, None, forward_min_event_ndims,
                         inverse_min_event_ndims, name)  # fmt: skip
        self._functions = {
            "forward_fn": forward_fn, "inverse_fn": inverse_fn,
            "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn,
        }  # fmt: skip

    def _call(self, name: str, value: Any) -> Any:
        function = self._functions[name]
        if not callable(function):
            raise NotImplementedError(f"{name} is not a callable function.")
        return function(value)

    def _forward(self, x: Any) -> Any:
        return self._call("forward_fn", x)

    def _inverse(self, y: Any) -> Any:
        return self._call("inverse_fn", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._functions["forward_log_det_jacobian_fn"] is None:
            return -self._call("inverse_log_det_jacobian_fn", self._forward(x))
        return self._call("forward_log_det_jacobian_fn", x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        if self._functions["inverse_log_det_jacobian_fn"] is None:
            return -self._call("forward_log_det_jacobian_fn", self._inverse(y))
        return self._call("inverse_log_det_jacobian_fn", y)

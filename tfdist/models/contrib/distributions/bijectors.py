"""tf.contrib.distributions.bijectors: functions that can be taken back, and how they stretch.

Source: TF 1.15 API documentation, tf.contrib.distributions.bijectors.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.math import exp, log, log1p, reduce_sum, sigmoid, softplus, square
from tfdist.ops.array.shape import shape

__all__ = ["Bijector", "Exp", "Identity", "PowerTransform", "Sigmoid", "Softplus", "Square"]


class Bijector:
    """A function with an inverse; subclasses say which.

    A subclass has `_forward`, `_inverse`, and `_forward_log_det_jacobian` or
    `_inverse_log_det_jacobian`, the logarithm of how much volumes grow.

    Args:
      graph_parents: accepted for TensorFlow's sake.
      is_constant_jacobian: whether volumes grow by the same everywhere.
      validate_args: accepted, and nothing is checked.
      dtype: of values.
      forward_min_event_ndims: rank of the least values that it goes over, 0 for single numbers.
      inverse_min_event_ndims: the same of results.
      name: prefix for its nodes.
    """

    def __init__(
        self, graph_parents: Any = None, is_constant_jacobian: bool = False,
        validate_args: bool = False, dtype: Any = None, forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and "
                             "`inverse_min_event_ndims`.")  # fmt: skip
        first, second = forward_min_event_ndims, inverse_min_event_ndims
        self.forward_min_event_ndims: int = second if first is None else first  # type: ignore[assignment]
        self.inverse_min_event_ndims: int = first if second is None else second  # type: ignore[assignment]
        self.graph_parents = list(graph_parents or ())
        self.is_constant_jacobian, self.validate_args = is_constant_jacobian, validate_args
        self.dtype = dtype
        self.name = name or type(self).__name__.lower()

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented.")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._inverse_log_det_jacobian(self._forward(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        if type(self)._forward_log_det_jacobian is Bijector._forward_log_det_jacobian:
            raise NotImplementedError("inverse_log_det_jacobian not implemented.")
        return -self._forward_log_det_jacobian(self._inverse(y))

    def forward(self, x: Any, name: str = "forward") -> Any:
        """Return the function of x."""
        with name_scope(f"{self.name}/{name}"):
            return self._forward(convert_to_tensor(x, name="x"))

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """Return the x of which the function is y."""
        with name_scope(f"{self.name}/{name}"):
            return self._inverse(convert_to_tensor(y, name="y"))

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: int, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """Return the logarithm of how much volumes grow at x.

        Args:
          x: the place.
          event_ndims: rank of one value.
          name: prefix for the nodes.

        Raises:
          ValueError: `event_ndims` is less than the function goes over.
        """
        with name_scope(f"{self.name}/{name}"):
            found = self._forward_log_det_jacobian(convert_to_tensor(x, name="x"))
            return self._summed(found, event_ndims - self.forward_min_event_ndims, x)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: int, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """Return the same of the inverse at y; see `forward_log_det_jacobian`."""
        with name_scope(f"{self.name}/{name}"):
            found = self._inverse_log_det_jacobian(convert_to_tensor(y, name="y"))
            return self._summed(found, event_ndims - self.inverse_min_event_ndims, y)

    def _summed(self, found: Any, count: int, value: Any) -> Any:
        if count < 0:
            raise ValueError(f"event_ndims must be {self.forward_min_event_ndims} or more")
        if not count:
            return found
        lead = shape(convert_to_tensor(value))
        inner = self.forward_min_event_ndims
        wide: Any = lead[:-inner] if inner else lead  # type: ignore[index]
        return reduce_sum(raw.BroadcastTo(found, wide), list(range(-count, 0)))

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """Return what is known of the shape of results of values of a shape."""
        return TensorShape(input_shape)

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """Return the same of the inverse."""
        return TensorShape(output_shape)

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "") -> Any:
        """Return the shape of results of values of a shape, a tensor."""
        return convert_to_tensor(input_shape, "int32")

    inverse_event_shape_tensor = forward_event_shape_tensor


class Identity(Bijector):
    """x itself.

    Example:
      >>> Session().run(contrib.distributions.bijectors.Identity().forward(2.0))
      np.float32(2.0)
    """

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(None, True, validate_args, None, 0, None, name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0, x.dtype)


class PowerTransform(Bijector):
    """(1 + power x) ** (1 / power), and exp(x) for the power 0.

    Example:
      >>> Session().run(contrib.distributions.bijectors.PowerTransform(0.5).forward(2.0))
      np.float32(4.0)
    """

    def __init__(
        self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"
    ) -> None:
        if power < 0:
            raise ValueError("`power` must be a non-negative constant")
        super().__init__(None, False, validate_args, None, 0, None, name)
        self.power = power

    def _forward(self, x: Any) -> Any:
        return exp(log1p(x * self.power) / self.power) if self.power else exp(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Expm1(log(y) * self.power) / self.power if self.power else log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return (1.0 / self.power - 1.0) * log1p(x * self.power) if self.power else x

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * log(y)


class Exp(PowerTransform):
    """exp(x).

    Example:
      >>> Session().run(contrib.distributions.bijectors.Exp().inverse(1.0))
      np.float32(0.0)
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0.0, validate_args, name)


class Sigmoid(Bijector):
    """1 / (1 + exp(-x)).

    Example:
      >>> Session().run(contrib.distributions.bijectors.Sigmoid().forward(0.0))
      np.float32(0.5)
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(None, False, validate_args, None, 0, None, name)

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(y) - log1p(-y)


class Softplus(Bijector):
    """c log(1 + exp(x / c)), where c is `hinge_softness`, 1 by default.

    Example:
      >>> Session().run(contrib.distributions.bijectors.Softplus().forward(0.0))
      np.float32(0.6931472)
    """

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        super().__init__(None, False, validate_args, None, 0, None, name)
        self.hinge_softness = 1.0 if hinge_softness is None else hinge_softness

    def _forward(self, x: Any) -> Any:
        return self.hinge_softness * softplus(x / self.hinge_softness)

    def _inverse(self, y: Any) -> Any:
        scaled = y / self.hinge_softness
        return self.hinge_softness * (scaled + log(-raw.Expm1(-scaled)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x / self.hinge_softness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(-raw.Expm1(-y / self.hinge_softness))


class Square(Bijector):
    """x ** 2, of positive numbers.

    Example:
      >>> Session().run(contrib.distributions.bijectors.Square().inverse(4.0))
      np.float32(2.0)
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(None, False, validate_args, None, 0, None, name)

    def _forward(self, x: Any) -> Any:
        return square(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Sqrt(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(2.0 * x)

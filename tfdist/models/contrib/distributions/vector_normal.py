"""tf.contrib.distributions: the normal distribution of vectors.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import abs as abs_
from tfdist.models.distributions.math import (
    log,
    ones_like,
    random_normal,
    reduce_sum,
    softplus,
    square,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.shape import shape
from tfdist.ops.linalg.cholesky import cholesky
from tfdist.ops.linalg.diag import matrix_diag, matrix_diag_part
from tfdist.ops.linalg.solve import matrix_triangular_solve
from tfdist.ops.math.matmul import matmul

__all__ = [
    "MultivariateNormalDiag", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalTriL",
]  # fmt: skip


class MultivariateNormalTriL(Distribution):
    """The normal distribution of vectors: loc + scale_tril @ noise.

    Args:
      loc: [..., n], the mean; 0 by default.
      scale_tril: [..., n, n], lower triangular with a positive diagonal; 1 by default.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Raises:
      ValueError: neither `loc` nor `scale_tril` is given.

    Example:
      >>> normal = contrib.distributions.MultivariateNormalTriL(
      ...     [1.0, 2.0], [[2.0, 0.0], [1.0, 1.0]]
      ... )
      >>> Session().run(normal.covariance())
      array([[4., 2.],
             [2., 2.]], dtype=float32)
    """

    _event_rank = 1

    def __init__(
        self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL",
    ) -> None:  # fmt: skip
        parameters = locals()
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name:
            if scale_tril is None:
                self.loc: Any = convert_to_tensor(loc, name="loc")
                self._tril: Any = matrix_diag(ones_like(self.loc))
            else:
                self._tril = raw.MatrixBandPart(
                    convert_to_tensor(scale_tril, name="scale_tril"), -1, 0
                )
                self.loc = _loc_like(loc, matrix_diag_part(self._tril))
        self._begin(parameters, validate_args, allow_nan_stats, name)

    def _begin(self, parameters: Any, validate_args: bool, allow_nan: bool, name: str) -> None:
        Distribution.__init__(
            self, self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan, parameters,
            [self.loc], name,
        )  # fmt: skip

    @property
    def _batch_parameters(self) -> list[Any]:
        return [(self.loc, 1), (self._tril, 2)]

    @property
    def event_shape(self) -> TensorShape:
        """Return what is known of the shape of one value."""
        known = self._tril.shape
        return known[-1:] if known.ndims is not None else TensorShape([None])

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """Return the shape of one value as a tensor."""
        with name_scope(name):
            sizes: Any = shape(self._tril)
            return sizes[-1:]

    def _whole(self) -> Any:
        """Return the mean in the shape of the whole batch."""
        return self.loc + raw.ZerosLike(self._diagonal())

    def _scaled(self, noise: Any) -> Any:
        return raw.Squeeze(matmul(_as_wide(self._tril, noise), raw.ExpandDims(noise, -1)),
                           squeeze_dims=[-1])  # fmt: skip

    def _unscaled(self, offset: Any) -> Any:
        column = raw.ExpandDims(offset, -1)
        return raw.Squeeze(matrix_triangular_solve(_as_wide(self._tril, offset), column),
                           squeeze_dims=[-1])  # fmt: skip

    def _diagonal(self) -> Any:
        return matrix_diag_part(self._tril)

    def _log_volume(self) -> Any:
        return reduce_sum(log(abs_(self._diagonal())), -1)

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], shape(self._whole())], 0)
        return self._scaled(random_normal(sizes, dtype=self.dtype, seed=seed)) + self.loc

    def _log_prob(self, value: Any) -> Any:
        z = self._unscaled(value - self._whole())
        size = cast(self.event_shape_tensor()[0], self.dtype)
        return -0.5 * (reduce_sum(square(z), -1) + size * math.log(2 * math.pi)) - (
            self._log_volume()
        )

    def _entropy(self) -> Any:
        size = cast(self.event_shape_tensor()[0], self.dtype)
        found = 0.5 * size * (1.0 + math.log(2 * math.pi)) + self._log_volume()
        return found + reduce_sum(raw.ZerosLike(self._whole()), -1)

    def _mean(self) -> Any:
        return self._whole()

    _mode = _mean

    def _covariance(self) -> Any:
        return matmul(self._tril, self._tril, transpose_b=True)

    def _variance(self) -> Any:
        return matrix_diag_part(self._covariance())


def _loc_like(loc: Any, like: Any) -> Any:
    if loc is None:
        return raw.ZerosLike(like)
    return convert_to_tensor(loc, like.dtype, name="loc")


def _as_wide(matrix: Any, vectors: Any) -> Any:
    """Return a matrix for each of the vectors."""
    lead = shape(vectors)
    return raw.BroadcastTo(matrix, concat([lead, lead[-1:]], 0))  # type: ignore[index]


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _normal_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_mvn"):
        lead = raw.BroadcastArgs(a.batch_shape_tensor(), b.batch_shape_tensor())
        size = a.event_shape_tensor()
        wide = concat([lead, size, size], 0)
        one, other = (raw.BroadcastTo(each._tril, wide) for each in (a, b))
        spread = reduce_sum(square(matrix_triangular_solve(other, one)), [-2, -1])
        apart = b._unscaled(b.loc - a.loc + raw.Fill(concat([lead, size], 0), cast(0, a.dtype)))
        volumes = b._log_volume() - a._log_volume()
        return volumes + 0.5 * (spread + reduce_sum(square(apart), -1) - cast(size[0], a.dtype))


class MultivariateNormalDiag(MultivariateNormalTriL):
    """The normal distribution of vectors whose numbers do not depend on each other.

    Args:
      loc: [..., n], the mean; 0 by default.
      scale_diag: [..., n], the standard deviations; 1 by default.
      scale_identity_multiplier: [...], one for all of them, added to `scale_diag` if that is given.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Raises:
      ValueError: neither `loc` nor `scale_diag` is given.

    Example:
      >>> normal = contrib.distributions.MultivariateNormalDiag([1.0, 2.0], [1.0, 3.0])
      >>> Session().run(normal.stddev())
      array([1., 3.], dtype=float32)
    """

    def __init__(
        self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:  # fmt: skip
        parameters = locals()
        if loc is None and scale_diag is None:
            raise ValueError("Must specify `loc` or `scale_diag`: one of them tells the size")
        with name_scope(name) as name:
            if scale_diag is None:
                self.loc = convert_to_tensor(loc, name="loc")
                diagonal: Any = ones_like(self.loc)
                if scale_identity_multiplier is not None:
                    diagonal = diagonal * self._multiplier(scale_identity_multiplier)
            else:
                diagonal = convert_to_tensor(scale_diag, name="scale_diag")
                self.loc = _loc_like(loc, diagonal)
                if scale_identity_multiplier is not None:
                    diagonal = diagonal + self._multiplier(scale_identity_multiplier)
            self._scale_diag: Any = diagonal
            self._tril = matrix_diag(diagonal)
        self._begin(parameters, validate_args, allow_nan_stats, name)

    def _multiplier(self, given: Any) -> Any:
        return raw.ExpandDims(convert_to_tensor(given, self.loc.dtype), -1)

    def _scaled(self, noise: Any) -> Any:
        return noise * self._scale_diag

    def _unscaled(self, offset: Any) -> Any:
        return offset / self._scale_diag

    def _diagonal(self) -> Any:
        return self._scale_diag

    def _stddev(self) -> Any:
        return abs_(self._scale_diag)

    def _variance(self) -> Any:
        return square(self._stddev())


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag, with softplus(scale_diag); see that for the arguments."""

    def __init__(
        self, loc: Any, scale_diag: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:  # fmt: skip
        super().__init__(loc, softplus(scale_diag), None, validate_args, allow_nan_stats, name)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors, by its covariance.

    Args:
      loc: [..., n], the mean; 0 by default.
      covariance_matrix: [..., n, n]; 1 by default.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> covariance = [[4.0, 2.0], [2.0, 2.0]]
      >>> normal = contrib.distributions.MultivariateNormalFullCovariance([1.0, 2.0], covariance)
      >>> Session().run(normal.variance()).round(4)
      array([4., 2.], dtype=float32)
    """

    def __init__(
        self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance",
    ) -> None:  # fmt: skip
        tril = None if covariance_matrix is None else cholesky(covariance_matrix)
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self.parameters = {"loc": loc, "covariance_matrix": covariance_matrix, "name": name,
                           "validate_args": validate_args,
                           "allow_nan_stats": allow_nan_stats}  # fmt: skip

"""Initializers of matrices, and those named after who proposed them.

Source: TF 1.15 API documentation, tf.initializers; Saxe, McClelland and Ganguli 2014, arXiv
1312.6120; He et al. 2015, arXiv 1502.01852; LeCun et al. 1998, "Efficient BackProp".
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.array.fill import eye
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.linalg.diag import diag_part
from tfdist.ops.linalg.qr import qr
from tfdist.ops.random.random_ops import random_normal
from tfdist.ops.variables.initializers import Initializer, variance_scaling_initializer

__all__ = ["orthogonal_initializer"]  # the others are names of tf.initializers only


class Orthogonal(Initializer):
    """Gives a matrix with orthonormal rows or columns, whichever are fewer.

    Axes but the last one count as one.

    Args:
      gain: factor of the matrix.
      seed: of the op.
      dtype: of the values, where the call names none.

    Raises:
      ValueError: the shape has fewer than two axes.

    Example:
      >>> q = Session().run(orthogonal_initializer()([3, 2]))
      >>> (q.T @ q).round(3) + 0.0
      array([[1., 0.],
             [0., 1.]], dtype=float32)
    """

    _settings = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain, self.seed = gain, seed

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        flat = [max(rows, columns), min(rows, columns)]
        q, r = qr(random_normal(flat, dtype=dtype, seed=self.seed))
        # the signs make it uniform: qr prefers some
        q = raw.Mul(q, raw.Sign(diag_part(r)), name="mul")
        if rows < columns:
            q = matrix_transpose(q)
        return raw.Mul(self.gain, reshape(q, shape), name="mul")


class Identity(Initializer):
    """Gives the identity matrix.

    Args:
      gain: factor of the matrix.
      dtype: of the values, where the call names none.

    Raises:
      ValueError: the shape has not two axes.

    Example:
      >>> Session().run(initializers.identity(2.0)([1, 2]))
      array([[2., 0.]], dtype=float32)
    """

    _settings = ("gain",)

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def _part(self, shape: list[Any], dtype: Any, whole: list[Any]) -> Any:
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix = eye(whole[0], whole[1], dtype=dtype)
        return matrix if self.gain == 1.0 else raw.Mul(self.gain, matrix, name="mul")


# their public names
orthogonal_initializer = Orthogonal
identity_initializer = Identity


def _named(public: str, scale: float, distribution: str) -> Any:
    """Return the public function that gives an initializer scaled by a layer's inputs."""

    def function(seed: int | None = None) -> variance_scaling_initializer:
        return variance_scaling_initializer(scale, "fan_in", distribution, seed)

    kind = "uniform" if distribution == "uniform" else "truncated normal"
    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return an initializer of {kind} numbers with variance {scale:g} / inputs.

    Args:
      seed: of the op.

    Example:
      >>> values = Session().run(initializers.{public}()([400, 300]))
      >>> (values.var() * 400).round(1)
      np.float32({scale:.1f})
    """
    return function


he_normal_initializer = _named("he_normal", 2.0, "truncated_normal")
he_uniform_initializer = _named("he_uniform", 2.0, "uniform")
lecun_normal_initializer = _named("lecun_normal", 1.0, "truncated_normal")
lecun_uniform_initializer = _named("lecun_uniform", 1.0, "uniform")

"""Initializers of convolutions that keep lengths: orthogonal in their middle, and 0 elsewhere.

Source: Xiao et al. 2018, arXiv 1806.05393.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.scatter_nd import scatter_nd
from tfdist.ops.linalg.diag import diag_part
from tfdist.ops.linalg.qr import qr
from tfdist.ops.random.random_ops import random_normal
from tfdist.ops.variables.initializers import Initializer

__all__: list[str] = []  # a name of tf.contrib.framework only


class ConvolutionDeltaOrthogonal(Initializer):
    """Gives filters of convolutions along one to three axes that keep the length of each vector.

    Args:
      gain: factor of the filters.
      seed: of the op.
      dtype: of the values, where the call names none.

    Raises:
      ValueError: the shape has fewer than three axes or more than five, or more channels go in
        than come out.

    Example:
      >>> filters = contrib.framework.convolutional_delta_orthogonal()([3, 2, 2])
      >>> w = Session().run(filters)
      >>> (w[1].T @ w[1]).round(3) + 0.0
      array([[1., 0.],
             [0., 1.]], dtype=float32)
    """

    _settings = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        if not self.dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {self.dtype!r}.")
        self.gain, self.seed = gain, seed

    def _value(self, shape: list[Any], dtype: Any) -> Any:
        if not 3 <= len(shape) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most "
                f"five-dimensional, got {shape}"
            )
        rows, columns = shape[-2:]
        if rows > columns:
            raise ValueError(f"In_filters cannot be greater than out_filters. Got {shape}")
        q, r = qr(random_normal([columns, columns], dtype=dtype, seed=self.seed))
        q = raw.Mul(q, raw.Sign(diag_part(r)), name="mul")[:rows]
        q = raw.Mul(q, cast(self.gain, dtype), name="mul")
        middle = [(size - 1) // 2 for size in shape[:-2]]
        return scatter_nd([middle], expand_dims(q, 0), shape)

"""What is known of a tensor, and between which values its elements are.

Source: TF 1.15 API documentation, tf.contrib.framework.BoundedTensorSpec.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.ops.functions.traced_arguments import TensorSpec

__all__ = ["BoundedTensorSpec", "TensorSpec"]


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with bounds, which belong to what is allowed.

    Args:
      shape: of the tensor.
      dtype: of its elements.
      minimum: the least value, or an array that broadcasts to the shape.
      maximum: the greatest value, in the same form.
      name: of the tensor.

    Raises:
      ValueError: a bound does not broadcast to the shape.

    Example:
      >>> contrib.framework.BoundedTensorSpec([2], float32, -1, 1).minimum
      array(-1., dtype=float32)
    """

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError("minimum and maximum must be provided; but saw None")
        self.minimum = self._bound("minimum", minimum)
        self.maximum = self._bound("maximum", maximum)

    def _bound(self, label: str, value: Any) -> Any:
        bound = np.array(value, self.dtype.as_numpy_dtype)
        known = [1 if size is None else size for size in self.shape.as_list()]
        try:
            broadcast = np.broadcast_shapes(bound.shape, tuple(known))
        except ValueError:
            broadcast = None
        if broadcast is None or len(broadcast) > len(known):
            raise ValueError(
                f"{label} is not compatible with shape. Message: {bound.shape} does not broadcast "
                f"to {self.shape}"
            )
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any) -> BoundedTensorSpec:
        """Return a copy of `spec`; one without bounds gets those of its dtype."""
        least = getattr(spec, "minimum", spec.dtype.min)
        greatest = getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, least, greatest, spec.name)

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

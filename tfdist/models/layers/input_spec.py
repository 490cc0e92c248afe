"""InputSpec: what a layer asks of its inputs.

Source: TF 1.15 API documentation, tf.layers.InputSpec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import as_shape

__all__ = ["InputSpec"]


class InputSpec:
    """Dtype, rank and sizes of axes that a layer's input must have; None for any.

    Args:
      dtype: of the elements.
      shape: sizes of all axes, None for any.
      ndim: rank.
      max_ndim: greatest rank.
      min_ndim: least rank.
      axes: axis -> size.

    Example:
      >>> layers.InputSpec(min_ndim=2, axes={-1: 4})
      InputSpec(min_ndim=2, axes={-1: 4})
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[Any, Any] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = as_shape(shape)
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}

    def __repr__(self) -> str:
        shown = {
            "dtype": self.dtype, "shape": self.shape, "ndim": self.ndim,
            "max_ndim": self.max_ndim, "min_ndim": self.min_ndim, "axes": self.axes or None,
        }  # fmt: skip
        given = [f"{name}={value}" for name, value in shown.items() if value is not None]
        return f"InputSpec({', '.join(given)})"


def check_inputs(specs: Any, inputs: list[Any], layer: str) -> None:
    """Raise ValueError unless `inputs` are as a layer's specs say; None or a list of them."""
    specs = specs if isinstance(specs, list | tuple) else [specs]
    if specs == [None]:
        return
    if len(inputs) != len(specs):
        raise ValueError(
            f"Layer {layer} expects {len(specs)} inputs, but it received {len(inputs)} input "
            f"tensors. Inputs received: {inputs}"
        )
    for number, (spec, tensor) in enumerate(zip(specs, inputs, strict=True)):
        fault = None if spec is None else _fault(spec, tensor)
        if fault is not None:
            raise ValueError(
                f"Input {number} of layer {layer} is incompatible with the layer: {fault}"
            )


def _fault(spec: InputSpec, tensor: Any) -> str | None:
    """Return what a tensor has not, None if it is as the spec says."""
    asks_rank = (spec.ndim, spec.max_ndim, spec.min_ndim) != (None, None, None)
    shape = tensor.plain_shape
    if shape is None:
        unknown = "its rank is undefined, but the layer requires a defined rank."
        return unknown if asks_rank or spec.axes else None
    return _rank_fault(spec, list(shape)) or _size_fault(spec, tensor, list(shape))


def _rank_fault(spec: InputSpec, shape: list[Any]) -> str | None:
    rank = len(shape)
    full = f"Full shape received: {shape}"
    if spec.ndim not in (None, rank):
        return f"expected ndim={spec.ndim}, found ndim={rank}. {full}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}. {full}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={rank}. {full}"
    return None


def _size_fault(spec: InputSpec, tensor: Any, shape: list[Any]) -> str | None:
    if spec.dtype not in (None, tensor.dtype.name):
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype.name}"
    for axis, size in spec.axes.items():
        if size is not None and shape[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but received input "
                f"with shape {shape}"
            )
    for wanted, size in zip(spec.shape or (), shape, strict=bool(spec.shape)):
        if wanted is not None and size not in (wanted, None):
            return f"expected shape={spec.shape}, found shape={shape}"
    return None

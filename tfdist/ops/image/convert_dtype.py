"""Images in other types: whole numbers up to a type's largest, floats from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast, saturate_cast

__all__ = ["convert_image_dtype"]


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Return `image` in another type, scaled: 1.0 in floats is the largest of whole numbers.

    Args:
      image: whole numbers or floats, of any shape.
      dtype: wanted type.
      saturate: whether numbers beyond the type's range become its ends.
      name: of the node.

    Example:
      >>> Session().run(image.convert_image_dtype(constant([0, 255], "uint8"), "float32"))
      array([0., 1.], dtype=float32)
    """
    image, dtype = convert_to_tensor(image, name="image"), dtypes.as_dtype(dtype)
    given = image.dtype.base_dtype
    if dtype is given:
        return raw.Identity(image, name=name)  # type: ignore[no-any-return]
    with name_scope(name, "convert_image", [image]) as scope:
        convert = saturate_cast if saturate else cast
        if given.is_floating and dtype.is_floating:
            return cast(image, dtype, scope)  # type: ignore[no-any-return]
        if given.is_floating:
            return convert(_times(image, dtype.max + 0.5), dtype, scope)  # type: ignore[no-any-return]
        if dtype.is_floating:
            return _times(cast(image, dtype), 1.0 / given.max, scope)
        return _whole(image, dtype, convert, scope)


def _whole(image: Tensor, dtype: DType, convert: Callable[..., Any], scope: str) -> Tensor:
    """Return whole numbers as others: a power of 2 lies between the types' ranges."""
    old, new = int(image.dtype.max) + 1, int(dtype.max) + 1
    if old > new:
        return convert(raw.FloorDiv(image, old // new, name="div"), dtype, scope)  # type: ignore[no-any-return]
    return _times(convert(image, dtype), new // old, scope)


def _times(image: Any, factor: Any, name: str | None = None) -> Tensor:
    return raw.Mul(image, factor, name=name)  # type: ignore[no-any-return]


def as_floats(image: Any, name: str = "image") -> tuple[Tensor, DType]:
    """Return an image as floats, 16 bits stay 16, and the type that it had."""
    image = convert_to_tensor(image, name=name)
    given = image.dtype.base_dtype
    if given in (dtypes.float16, dtypes.float32):
        return image, given
    return convert_image_dtype(image, dtypes.float32), given

"""Tensors in writing, in the places of a template.

Source: TF 1.15 API documentation, tf.strings.format; experiments with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements

STRING_FORMAT = OpDef(
    "StringFormat(inputs: T) -> output: string [T: list(type); template: string = '%s'; "
    "placeholder: string = '%s'; summarize: int = 3]"
).not_differentiable()


@STRING_FORMAT.shape
def string_format_shape(inputs: list[Shape]) -> Shape:
    return ()


@STRING_FORMAT.kernel
def string_format_kernel(
    inputs: list[Any], *, template: bytes, placeholder: bytes, summarize: int
) -> Any:
    pieces = template.split(placeholder)
    if len(pieces) != len(inputs) + 1:
        raise InvalidArgumentError(_mismatch(len(pieces) - 1, len(inputs)))
    shown = [in_writing(as_elements(each), summarize).encode() for each in inputs]
    return b"".join(part for pair in zip(pieces, [*shown, b""], strict=True) for part in pair)


def _mismatch(places: int, tensors: int) -> str:
    return (
        f"{places} placeholder(s) in template does not match {tensors} tensor(s) provided as input"
    )


def in_writing(array: Any, summarize: int) -> str:
    """Return an array in writing, as TensorFlow does.

    Args:
      array: any shape.
      summarize: how many elements at each end of a dimension are written; -1 for all.
    """
    return _part(array, array.ndim, summarize, _writer(array))


def _part(array: Any, rank: int, most: int, write: Callable[[Any], str]) -> str:
    if not array.ndim:
        return write(array.item())
    count = len(array)
    if 0 <= most < (count + 1) // 2:
        ends = [*range(most), *range(count - most, count)]
        parts = [_part(array[i], rank, most, write) for i in ends]
        parts.insert(most, "...")
    else:
        parts = [_part(each, rank, most, write) for each in map(np.asarray, array)]
    depth = rank - array.ndim + 1
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    return f"[{between.join(parts)}]"


def _writer(array: Any) -> Callable[[Any], str]:
    match array.dtype.kind:
        case "f":
            return _short_float32 if array.dtype.itemsize < 8 else _short_float64
        case "b":
            return lambda value: str(int(value))
        case "O":
            return _quoted
        case "c":
            return lambda _: "?"
    return str


def _short_float32(value: float) -> str:
    short = f"{value:.6g}"
    return short if np.float32(short) == np.float32(value) else f"{value:.9g}"


def _short_float64(value: float) -> str:
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _quoted(text: bytes) -> str:
    """Return a string in quotes, with everything but ASCII letters and signs escaped."""
    named = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
    inner = [named.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in text]
    return f'"{"".join(inner)}"'


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a template with tensors in its places: `tf.strings.format`.

    Args:
      template: a string with a placeholder for each tensor.
      inputs: a list of tensors, or one.
      placeholder: what stands in the place of a tensor.
      summarize: how many elements at each end of a dimension are written; -1 for all.
      name: of the node.

    Returns:
      A scalar string.

    Raises:
      ValueError: there are not as many placeholders as tensors.

    Example:
      >>> Session().run(strings.format("{} of {}", (range(8), "x")))
      b'[0 1 2 ... 5 6 7] of "x"'
    """
    tensors: Sequence[Any] = inputs if isinstance(inputs, list | tuple) else [inputs]
    if template.count(placeholder) != len(tensors):
        raise ValueError(_mismatch(template.count(placeholder), len(tensors)))
    attrs = {"template": template, "placeholder": placeholder, "summarize": summarize}
    return raw.StringFormat(list(tensors), **attrs, name=name)  # type: ignore[no-any-return]

"""tf.print: values of tensors in a line of text, which the task that runs it writes.

Source: TF 1.15 API documentation, tf.print.
"""

from __future__ import annotations

import pprint
import sys
from typing import Any

import numpy as np

from tfdist.base import nest, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__: list[str] = []  # `tf.print` would be Python's own wherever names are taken with a star

PRINT_V2 = OpDef(
    "PrintV2(input: string) -> () [output_stream: string = 'stderr'; end: string = '\\n'] !"
).not_differentiable()

_LEVELS = ("info", "warning", "error")  # of tf.logging
_STREAMS = {"stdout", "stderr", *(f"log({level})" for level in _LEVELS)}
_PLACES = ("{}", "{tensor}", "{the value of a tensor}")  # of tensors, the first that no text has


@PRINT_V2.shape
def print_v2_shape(input: Shape) -> list[Shape]:
    shapes.require_rank(input, "input", 0)
    return []


@PRINT_V2.kernel
def print_v2_kernel(ctx: Any, input: Any, *, output_stream: bytes, end: bytes) -> list[Any]:
    given = input if isinstance(input, bytes) else np.asarray(input).item()
    text, last = (each.decode(errors="replace") for each in (given, end))
    stream = output_stream.decode()
    if stream == "stdout":
        sys.stdout.write(text + last)
    elif stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text + last)
    elif stream in _STREAMS:
        ctx.log(text + last.removesuffix("\n"))  # a line of the log ends by itself
    else:
        raise InvalidArgumentError(f"unknown output stream: {stream}; there are {_known()}")
    return []


def _known() -> str:
    return f"{', '.join(sorted(_STREAMS))} and file://PATH"


def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """Return an operation that writes `inputs` in a line.

    Args:
      inputs: texts, tensors, and nested structures of these; the values of tensors are written.
      output_stream: `sys.stderr` (by default), `sys.stdout`, a function of tf.logging such as
        `tf.logging.info`, or "file://PATH". A task in another process writes to its own.
      summarize: how many elements at each end of a dimension are written; 3 by default, -1 for all.
      sep: what stands between the inputs, " " by default.
      end: what stands at the end, a new line by default.
      name: of the node.

    Raises:
      ValueError: there is no such stream or keyword.

    Example:
      >>> line = print_v2("step", constant([1, 2]), output_stream=sys.stdout)
      >>> Session().run(line)
      step [1 2]
    """
    stream = _stream(kwargs.pop("output_stream", sys.stderr))
    name, summarize = kwargs.pop("name", None), kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    tensors: list[Any] = []
    place = next(each for each in _PLACES if each not in str([x for x in inputs if _is_text(x)]))
    template = (sep or "").join(_shown(each, tensors, place) for each in inputs)
    text = raw.StringFormat(
        tensors, template=template, placeholder=place, summarize=summarize,
        name=f"{name}_format" if name else None,
    )  # fmt: skip
    return PRINT_V2(text, output_stream=stream, end=end, name=name)  # type: ignore[no-any-return]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _shown(value: Any, tensors: list[Any], place: str) -> str:
    """Return an input in writing, with a place for each tensor, which is added to `tensors`."""
    if _is_text(value):
        return value  # type: ignore[no-any-return]
    if hasattr(value, "_as_tensor"):
        tensors.append(value._as_tensor(False))
        return place
    written = nest.map_leaves(lambda leaf: _leaf(leaf, tensors, place), value)
    return pprint.pformat(written).replace(f"'{place}'", place)


def _leaf(leaf: Any, tensors: list[Any], place: str) -> Any:
    if isinstance(leaf, SparseTensor):
        tensors.extend([leaf.indices, leaf.values, leaf.dense_shape])
        return f"SparseTensor(indices={place}, values={place}, shape={place})"
    if hasattr(leaf, "_as_tensor"):
        tensors.append(leaf._as_tensor(False))
        return place
    return leaf


def _stream(stream: Any) -> str:
    """Return the name that the op has for a stream."""
    if stream in (sys.stdout, sys.__stdout__):
        return "stdout"
    if stream in (sys.stderr, sys.__stderr__):
        return "stderr"
    level = "warning" if getattr(stream, "__name__", "") == "warn" else None
    level = level or getattr(stream, "__name__", "")
    if callable(stream) and level in _LEVELS:
        return f"log({level})"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
        "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error, and "
        "file://PATH"
    )

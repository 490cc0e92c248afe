"""Runs of strings that follow each other, joined.

Source: TF 1.15 API documentation, tf.strings.ngrams.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.ragged.ragged_tensor import RaggedTensor

NGRAMS = OpDef(
    "StringNGrams(data: string, data_splits: Tsplits) -> ngrams: string, ngrams_splits: Tsplits "
    "[separator: string; ngram_widths: list(int); left_pad: string; right_pad: string; "
    "pad_width: int; preserve_short_sequences: bool; Tsplits: type = int64 {index}]"
).not_differentiable()


@NGRAMS.shape
def ngrams_shape(data: Shape, data_splits: Shape) -> list[Shape]:
    shapes.require_rank(data, "data", 1)
    shapes.require_rank(data_splits, "data_splits", 1)
    return [(None,), data_splits]


@NGRAMS.kernel
def ngrams_kernel(
    data: Any, data_splits: Any, *, separator: bytes, ngram_widths: list[int], left_pad: bytes,
    right_pad: bytes, pad_width: int, preserve_short_sequences: bool, Tsplits: DType,
) -> Any:  # fmt: skip
    bounds = data_splits.tolist()
    _check_splits(bounds, len(data))
    texts = data.tolist()
    pads = (left_pad, right_pad, pad_width)
    rows = [
        _row(texts[start:end], separator, ngram_widths, pads, preserve_short_sequences)
        for start, end in pairwise(bounds)
    ]
    output = np.empty(sum(map(len, rows)), object)
    output[:] = list(chain.from_iterable(rows))
    splits = np.cumsum([0, *map(len, rows)]) if bounds else np.zeros(0)
    return output, splits.astype(Tsplits.as_numpy_dtype)


def _check_splits(bounds: Sequence[int], count: int) -> None:
    is_rising = all(one <= other for one, other in pairwise(bounds))
    if bounds and not (bounds[0] == 0 and bounds[-1] == count and is_rising):
        raise InvalidArgumentError(
            f"data_splits must rise from 0 to {count}, the number of strings, got {bounds}"
        )


def _row(
    texts: list[bytes], separator: bytes, widths: Sequence[int], pads: tuple[bytes, bytes, int],
    keeps_short: bool,
) -> list[bytes]:  # fmt: skip
    left, right, most = pads
    found: list[bytes] = []
    for width in widths:
        pad = width - 1 if most < 0 else min(most, width - 1)
        padded = [left] * pad + texts + [right] * pad
        starts = range(len(padded) - width + 1)
        found += [separator.join(padded[start : start + width]) for start in starts]
    if keeps_short and not found and texts:
        pad = max(most, 0)
        found = [separator.join([left] * pad + texts + [right] * pad)]
    return found


def ngrams(
    data: Any, ngram_width: int | Sequence[int], separator: str = " ", pad_values: Any = None,
    padding_width: int | None = None, preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return runs of strings that follow each other in the last dimension, joined.

    Args:
      data: strings [..., n], perhaps ragged.
      ngram_width: how many strings are in a run; or several numbers.
      separator: what stands between.
      pad_values: what stands before the first and after the last string: one string, or a pair;
        nothing by default.
      padding_width: how often, at most; so that each string is first once by default.
      preserve_short_sequences: whether strings that are too few for a run are one all together.
      name: of the scope of the nodes.

    Returns:
      Strings [..., number of runs].

    Raises:
      TypeError: there is something else to pad with.
      ValueError: a width is out of its range.

    Example:
      >>> Session().run(strings.ngrams(["a", "b", "c"], 2)).tolist()
      [b'a b', b'b c']
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    for width in widths:
        if width < 1:
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    left, right, pad = _padding(pad_values, padding_width)
    attrs: dict[str, Any] = {
        "separator": separator, "ngram_widths": widths, "left_pad": left, "right_pad": right,
        "pad_width": pad, "preserve_short_sequences": preserve_short_sequences,
    }  # fmt: skip
    with scopes.name_scope(name, "StringNGrams", [data]):
        if isinstance(data, RaggedTensor):
            return _of_ragged(data, attrs)
        texts = convert_to_tensor(data, dtypes.string, "data")
        if not texts.shape.ndims:
            raise ValueError("Data must have rank>0")
        flat, splits = _as_rows(texts)
        return _in_place_of(texts, raw.StringNGrams(flat, splits, **attrs)[0])


def _of_ragged(data: RaggedTensor, attrs: dict[str, Any]) -> RaggedTensor:
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_of_ragged(data.values, attrs))
    runs, splits = raw.StringNGrams(data.values, data.row_splits, **attrs)
    return RaggedTensor.from_row_splits(runs, splits, validate=False)


def _padding(values: Any, width: int | None) -> tuple[str, str, int]:
    if values is None:
        if width is not None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        return "", "", 0
    pair = (values, values) if isinstance(values, str | bytes) else values
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise TypeError("pad_values must be either a tuple of (str, str) or a str.")
    if width is not None and width < 1:
        raise ValueError("padding_width must be greater than 0.")
    return (*pair, -1 if width is None else width)


def _as_rows(texts: Tensor) -> tuple[Tensor, Tensor]:
    """Return all strings in one row, and where the last dimension begins and ends in it."""
    flat = raw.Reshape(texts, [-1])
    shape = raw.Shape(texts, out_type=dtypes.int64)
    length = raw.StridedSlice(shape, [-1], [0], [1], shrink_axis_mask=1)
    outer = raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1)
    rows = raw.Prod(outer, [0])
    one = convert_to_tensor(1, dtypes.int64)
    numbers = raw.Range(convert_to_tensor(0, dtypes.int64), raw.AddV2(rows, one), one)
    return flat, raw.Mul(numbers, length)


def _in_place_of(texts: Tensor, output: Tensor) -> Tensor:
    """Return runs, of which all rows have as many, in the shape of their strings."""
    dims = texts.plain_shape or ()
    if len(dims) == 1:
        return output
    if None not in dims[:-1]:
        return raw.Reshape(output, [*dims[:-1], -1])  # type: ignore[no-any-return]
    shape = raw.Shape(texts)
    outer = raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1)
    result: Tensor = raw.Reshape(output, raw.ConcatV2([outer, [-1]], 0))
    result.set_shape([*dims[:-1], None])
    return result

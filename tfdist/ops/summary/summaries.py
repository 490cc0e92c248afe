"""Summaries: serialized Summary messages, which tools draw over the steps of a program.

What a summary tells of has a tag: the node's name, with the scopes around it. A family stands in
front of both, in the tag twice. Images, sounds and tensors: `media`, `tensor_summary`.

Source: TF 1.15 API documentation, tf.summary.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import summaries
from tfdist.graph import replicas, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb

_LOG = logging.getLogger("tensorflow")
_FOREIGN = re.compile(r"[^-/\w.]")  # what names of summaries must not have

# what all have in common


def summary_shape(*_: Shape, **__: Any) -> Shape:
    """Return the shape of every summary."""
    return ()


def show(shape: Iterable[int]) -> str:
    """Return a shape as the errors of summaries write it."""
    return f"[{','.join(map(str, shape))}]"


def tag_text(tag: Any, message: str) -> str:
    """Return the text of a tag; InvalidArgumentError with the message if it is no scalar."""
    if np.shape(tag):
        raise InvalidArgumentError(message)
    text: str = as_elements(tag)[()].decode(errors="replace")
    return text


@contextmanager
def summary_scope(
    name: str, family: str | None = None, values: Iterable[Any] = ()
) -> Iterator[tuple[str, str]]:
    """Yield (tag, scope) of a new summary, whose node is named by the scope."""
    name = clean_name(name)
    family = None if family is None else clean_name(family)
    with scopes.name_scope(name if family is None else f"{family}/{name}", values=values) as scope:
        tag = scope.removesuffix("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def clean_name(name: str) -> str:
    """Return `name` with "_" for what names must not have, and without "/" in front.

    Raises:
      ValueError: nothing is left.
    """
    cleaned = _FOREIGN.sub("_", name).lstrip("/") if name is not None else ""
    if not cleaned:
        raise ValueError(f"{name!r} is no name for a summary")
    if cleaned != name:
        _LOG.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


def collect(summary: Tensor, collections: Iterable[Any] | None, default: Sequence[Any]) -> Tensor:
    """Add a summary to collections, and return it; of replicas the first one's is kept."""
    if not replicas.is_first():
        return summary
    keys = default if collections is None else list(collections)
    summary.graph.add_to_collections(keys, summary)
    return summary


SUMMARIES = (GraphKeys.SUMMARIES,)

# numbers

SCALAR_SUMMARY = OpDef(
    "ScalarSummary(tags: string, values: T) -> summary: string [T: type {real}]"
).not_differentiable()
SCALAR_SUMMARY.shape(summary_shape)


@SCALAR_SUMMARY.kernel
def scalar_summary_kernel(tags: Any, values: Any) -> bytes:
    tags, shape = as_elements(tags), np.shape(values)
    if tags.shape != shape:
        of_tag = "" if tags.shape else f" (tag '{tags[()].decode(errors='replace')}')"
        raise InvalidArgumentError(
            f"tags and values not the same shape: {show(tags.shape)} != {show(shape)}{of_tag}"
        )
    rows = zip(tags.flat, values.flat, strict=True) if shape else [(tags[()], values)]
    summary = pb.Summary()
    for tag, value in rows:
        summary.value.add(tag=tag.decode(errors="replace"), simple_value=float(value))
    return summary.SerializeToString()  # type: ignore[no-any-return]


def scalar(
    name: str, tensor: Any, collections: Iterable[Any] | None = None, family: str | None = None
) -> Tensor:
    """Return a string []: a serialized Summary of one number.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: real [].
      collections: to which it is added; SUMMARIES by default.
      family: group of tags that it stands in.

    Example:
      >>> made = Session().run(scalar("loss", 0.5))
      >>> [(value.tag, value.simple_value) for value in pb.Summary.FromString(made).value]
      [('loss', 0.5)]
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        summary = raw.ScalarSummary(tag, tensor, name=scope)
    return collect(summary, collections, SUMMARIES)


# histograms

HISTOGRAM_SUMMARY = OpDef(
    "HistogramSummary(tag: string, values: T) -> summary: string [T: type = float {real}]"
).not_differentiable()
HISTOGRAM_SUMMARY.shape(summary_shape)


@HISTOGRAM_SUMMARY.kernel
def histogram_summary_kernel(ctx: Any, tag: Any, values: Any) -> bytes:
    tag = tag_text(tag, "tags must be scalar")
    made = summaries.histogram(values)
    if made.num and not (np.isfinite(made.min) and np.isfinite(made.max)):
        wrong = next(x for x in np.ravel(values) if not np.isfinite(x))
        what = "Nan" if np.isnan(wrong) else "Infinity"
        raise InvalidArgumentError(f"{what} in summary histogram for: {ctx.node_name}")
    summary: bytes = pb.Summary(value=[pb.Summary.Value(tag=tag, histo=made)]).SerializeToString()
    return summary


def histogram(
    name: str, values: Any, collections: Iterable[Any] | None = None, family: str | None = None
) -> Tensor:
    """Return a string []: a serialized Summary with a histogram of numbers.

    Args:
      name: of the node, and with the scopes around it the tag.
      values: real, of any shape.
      collections: to which it is added; SUMMARIES by default.
      family: group of tags that it stands in.

    Raises:
      InvalidArgumentError: a number is not finite (when it runs).

    Example:
      >>> [value] = pb.Summary.FromString(Session().run(histogram("w", [1.0, 2.0]))).value
      >>> value.tag, value.histo.num, value.histo.max
      ('w', 2.0, 2.0)
    """
    with summary_scope(name, family, [values]) as (tag, scope):
        summary = raw.HistogramSummary(tag, values, name=scope)
    return collect(summary, collections, SUMMARIES)


# several in one

MERGE_SUMMARY = OpDef(
    "MergeSummary(inputs: N*string) -> summary: string [N: int >=1]"
).not_differentiable()
MERGE_SUMMARY.shape(summary_shape)


@MERGE_SUMMARY.kernel
def merge_summary_kernel(inputs: list[Any]) -> bytes:
    parts: list[bytes] = []
    for each in inputs:
        parts += [each] if isinstance(each, bytes) else each.reshape(-1).tolist()
    try:
        tags = [value.tag for part in parts for value in pb.parse(pb.Summary, part).value]
    except ValueError:
        raise InvalidArgumentError("Could not parse one of the summary inputs") from None
    if len(set(tags)) < len(tags):
        _check_tags(tags)
    return b"".join(parts)  # which is how protobuf merges messages


def _check_tags(tags: list[str]) -> None:
    twice = next((tag for tag, count in Counter(tags).items() if tag and count > 1), None)
    if twice is not None:
        raise InvalidArgumentError(f"Duplicate tag {twice} found in summary inputs")


def merge(
    inputs: Sequence[Any], collections: Iterable[Any] | None = None, name: str | None = None
) -> Tensor:
    """Return a string []: a serialized Summary with all values of others.

    Args:
      inputs: serialized Summary messages.
      collections: to which it is added; none by default.
      name: of the node.

    Raises:
      InvalidArgumentError: two have one tag, or one is no Summary (when it runs).

    Example:
      >>> made = Session().run(merge([scalar("a", 1.0), scalar("b", 2.0)]))
      >>> [value.tag for value in pb.Summary.FromString(made).value]
      ['a', 'b']
    """
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"a list of summaries is to be merged, not {inputs!r}")
    with scopes.name_scope(name, "Merge", inputs):
        summary = raw.MergeSummary(list(inputs), name=name)
    return collect(summary, collections, ())


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """Return all summaries of a collection of the default graph, merged; None if there are none.

    Args:
      key: the collection.
      scope: regular expression with which their names begin.
      name: of the node.

    Example:
      >>> _ = scalar("a", 1.0), scalar("b/c", 2.0)
      >>> made = Session().run(merge_all(scope="b"))
      >>> [value.tag for value in pb.Summary.FromString(made).value]
      ['b/c']
    """
    found = scopes.get_collection(key, scope)
    return merge(found, name=name) if found else None

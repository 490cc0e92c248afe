"""What the summaries of TensorFlow 0.x were called: the tag is an argument, whatever the scopes.

Source: TF 0.11 API documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.summary.summaries import SUMMARIES, collect, merge, merge_all
from tfdist.ops.variables.collections import GraphKeys

__all__ = [
    "audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary",
    "scalar_summary",
]  # fmt: skip


def scalar_summary(
    tags: Any, values: Any, collections: Iterable[Any] | None = None, name: str | None = None
) -> Tensor:
    """Return a serialized Summary of numbers, under the tags as they are given.

    Args:
      tags: string, of any shape.
      values: real, of the same shape.
      collections: to which it is added; SUMMARIES by default.
      name: of the node.

    Example:
      >>> made = Session().run(scalar_summary(["x 1", "x 2"], [0.5, 1.5]))
      >>> [value.tag for value in summary.Summary.FromString(made).value]
      ['x 1', 'x 2']
    """
    with scopes.name_scope(name, "ScalarSummary", [tags, values]) as scope:
        summary = raw.ScalarSummary(tags, values, name=scope)
    return collect(summary, collections, SUMMARIES)


def histogram_summary(
    tag: Any, values: Any, collections: Iterable[Any] | None = None, name: str | None = None
) -> Tensor:
    """Return a serialized Summary with a histogram; see `tf.summary.histogram`.

    Example:
      >>> made = Session().run(histogram_summary("all w", [0.5]))
      >>> summary.Summary.FromString(made).value[0].tag
      'all w'
    """
    with scopes.name_scope(name, "HistogramSummary", [tag, values]) as scope:
        summary = raw.HistogramSummary(tag, values, name=scope)
    return collect(summary, collections, SUMMARIES)


def image_summary(
    tag: Any,
    tensor: Any,
    max_images: int = 3,
    collections: Iterable[Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return a serialized Summary of images; see `tf.summary.image`.

    Example:
      >>> made = Session().run(image_summary("a dot", [[[[1.0]]]], max_images=1))
      >>> [value.tag for value in summary.Summary.FromString(made).value]
      ['a dot/image']
    """
    with scopes.name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        summary = raw.ImageSummary(tag, tensor, max_images=max_images, name=scope)
    return collect(summary, collections, SUMMARIES)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Iterable[Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return a serialized Summary of sounds; see `tf.summary.audio`.

    Example:
      >>> made = Session().run(audio_summary("a click", [[1.0, 0.0]], 8000.0, max_outputs=1))
      >>> [value.tag for value in summary.Summary.FromString(made).value]
      ['a click/audio']
    """
    with scopes.name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, "float32", "sample_rate")
        summary = raw.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
    return collect(summary, collections, SUMMARIES)


def merge_summary(
    inputs: Sequence[Any], collections: Iterable[Any] | None = None, name: str | None = None
) -> Tensor:
    """Return several summaries as one; see `tf.summary.merge`.

    Example:
      >>> made = Session().run(merge_summary([scalar_summary("a", 1.0)]))
      >>> len(summary.Summary.FromString(made).value)
      1
    """
    return merge(inputs, collections, name)


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """Return all summaries of a collection as one; see `tf.summary.merge_all`.

    Example:
      >>> merge_all_summaries() is None
      True
    """
    return merge_all(key)

"""The CTC loss of dense labels, and of a blank that is any class: `tf.nn.ctc_loss_v2`."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.shape import shape
from tfdist.ops.functions.map_fn import map_fn
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.nn.ctc_loss import ctc_loss
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse

__all__ = ["ctc_loss_v2", "ctc_unique_labels"]


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the CTC loss of each sequence of labels, which may be dense: `tf.nn.ctc_loss_v2`.

    Args:
      labels: integers [sequences, longest], or an int32 SparseTensor.
      logits: scores, [time, sequences, classes].
      label_length: how many labels each sequence has; not used with sparse labels.
      logit_length: how many steps in time each has.
      logits_time_major: whether `logits` has the time first.
      unique: what `ctc_unique_labels` gives; not needed here.
      blank_index: the class of the blank, from the end if it is negative; 0 by default, and to be
        given with sparse labels.
      name: of the scope.

    Raises:
      ValueError: `blank_index` is missing, or is no class.
      InvalidArgumentError: a sequence has no labels, or too many (when it runs).

    Example:
      >>> scores = zeros([2, 1, 3])
      >>> Session().run(ctc_loss_v2([[1]], scores, [1], [2]))
      array([1.0986123], dtype=float32)
    """
    is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)
    if is_sparse and blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    with name_scope(name, "ctc_loss" if is_sparse else "ctc_loss_dense", [logits, label_length]):
        scores: Any = convert_to_tensor(logits, name="logits")
        sizes: Any = shape(scores)
        last = sizes[2] - 1
        blank = _blank_class(scores, blank_index or 0)
        if is_sparse:
            sparse = as_sparse(labels)
        else:
            sparse = _sparse_labels(labels, label_length, last if blank is None else blank)
        if blank is not None:
            scores = concat([scores[..., :blank], scores[..., blank + 1 :],
                             scores[..., blank : blank + 1]], 2)  # fmt: skip
            values: Any = sparse.values
            shifted = where(values < blank, values, values - 1)  # a sparse blank, too: as 1.15.5
            is_end = raw.Equal(values, blank)
            values = shifted if is_sparse else where(is_end, raw.OnesLike(values) * last, shifted)
            sparse = SparseTensor(sparse.indices, values, sparse.dense_shape)
        return ctc_loss(sparse, scores, logit_length, time_major=logits_time_major)


def ctc_loss_dense(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int = 0,
    name: str | None = None,
) -> Tensor:
    """Return the CTC loss of each sequence of dense labels; see `ctc_loss_v2`."""
    return ctc_loss_v2(
        labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name
    )


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """Return the first labels of each row as a SparseTensor.

    Args:
      dense: [sequences, longest].
      length: [sequences], how many labels each row has.
    """
    labels, counts = convert_to_tensor(dense), convert_to_tensor(length)
    sizes: Any = shape(labels, out_type=dtypes.int64)
    indices = raw.Where(sequence_mask(counts, sizes[1]))
    most = cast(reduce_max(counts), dtypes.int64)
    return SparseTensor(indices, raw.GatherNd(labels, indices), raw.Pack([sizes[0], most]))


def _blank_class(scores: Tensor, blank: int) -> int | None:
    """Return the class of the blank, counted from the front; None if it is the last one."""
    classes = scores.shape[2].value
    if blank == -1 or (classes is not None and blank == classes - 1):
        return None
    if classes is None and blank >= 0:
        return blank
    if classes is None or not -classes <= blank < classes:
        raise ValueError(f"blank_index must be within the {classes} classes, got {blank}")
    return blank % classes


def _sparse_labels(labels: Any, lengths: Any, blank: Any) -> SparseTensor:
    """Return the first labels of each row, as many as `lengths` says; one blank instead of none."""
    dense = cast(labels, dtypes.int32)
    dims: Any = shape(dense)
    dense = where(sequence_mask(lengths, dims[1]), dense, raw.OnesLike(dense) * blank)
    indices = raw.Where(sequence_mask(raw.Maximum(lengths, 1), dims[1]))
    return SparseTensor(indices, raw.GatherNd(dense, indices), cast(dims, dtypes.int64))


def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the different labels of each row, and which of them stands at each place.

    Args:
      labels: integers [sequences, longest].
      name: of the scope.

    Returns:
      int64 [sequences, longest], the different ones first and then 0; int32 of the same shape.

    Example:
      >>> [found.tolist() for found in Session().run(ctc_unique_labels([[3, 4, 4, 3]]))]
      [[[3, 4, 0, 0]], [[0, 1, 1, 0]]]
    """

    def of_row(row: Tensor) -> list[Tensor]:
        different, places = raw.Unique(row, out_idx=dtypes.int32)
        rest = raw.Sub(raw.Size(places), raw.Size(different))
        padded = raw.Pad(different, raw.Pack([raw.Pack([0, rest])]))
        return [cast(padded, dtypes.int64), places]

    with name_scope(name, "ctc_unique_labels", [labels]):
        rows = convert_to_tensor(labels, name="labels")
        different, places = map_fn(of_row, rows, dtype=[dtypes.int64, dtypes.int32])
        return different, places

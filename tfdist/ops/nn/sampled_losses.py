"""Losses over very many classes, of which each step looks at the true ones and some others."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.fill import ones, ones_like, zeros_like
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.math.matmul import matmul
from tfdist.ops.nn.accidental_hits import compute_accidental_hits
from tfdist.ops.nn.candidate_sampling import log_uniform_candidate_sampler
from tfdist.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits
from tfdist.ops.sparse.to_dense import sparse_to_dense

__all__ = ["nce_loss", "sampled_softmax_loss"]


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Return the noise-contrastive loss of each example: true classes against drawn ones.

    Args:
      weights: [num_classes, dim], or its parts.
      biases: [num_classes].
      labels: int64 [batch, num_true], the true classes.
      inputs: [batch, dim].
      num_sampled: how many classes to draw, for the whole batch.
      num_classes: how many there are.
      num_true: how many true classes each example has.
      sampled_values: what a candidate sampler gave; by default the log-uniform one draws.
      remove_accidental_hits: whether drawn classes that are true ones do not count.
      partition_strategy: "mod" or "div", how the parts of `weights` have its rows.
      name: of the nodes' scope.

    Returns:
      [batch], nats.

    Source: Gutmann and Hyvarinen 2010; Mnih and Teh 2012.

    Example: weights of 0 say nothing of any class.
      >>> weights, sampled = zeros([4, 1]), ([1, 2], [[1.0]], [1.0, 1.0])
      >>> loss = nn.nce_loss(weights, zeros([4]), [[3]], [[5.0]], 2, 4, sampled_values=sampled)
      >>> Session().run(loss)
      array([2.0794415], dtype=float32)
    """
    logits, targets = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy, name, None,
    )  # fmt: skip
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _row_sums(losses)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """Return the softmax cross-entropy of each example among its true classes and drawn ones.

    Args:
      weights: [num_classes, dim], or its parts.
      biases: [num_classes].
      labels: int64 [batch, num_true], the true classes.
      inputs: [batch, dim].
      num_sampled: how many classes to draw, for the whole batch.
      num_classes: how many there are.
      num_true: how many true classes each example has.
      sampled_values: what a candidate sampler gave; by default the log-uniform one draws.
      remove_accidental_hits: whether drawn classes that are true ones do not count.
      partition_strategy: "mod" or "div", how the parts of `weights` have its rows.
      name: of the nodes' scope.
      seed: of the draws.

    Returns:
      [batch], nats: an estimate, for training only.

    Source: Jean et al. 2014.

    Example: three classes, all alike.
      >>> weights, sampled = zeros([4, 1]), ([1, 2], [[1.0]], [1.0, 1.0])
      >>> loss = nn.sampled_softmax_loss(
      ...     weights, zeros([4]), [[3]], [[5.0]], 2, 4, sampled_values=sampled
      ... )
      >>> Session().run(loss)
      array([1.0986123], dtype=float32)
    """
    logits, targets = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    targets = raw.StopGradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


def _logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int, sampled_values: Any, remove_hits: bool, strategy: str, name: str,
    seed: int | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return logits and labels of the true classes and those drawn: [batch, true + drawn]."""
    parts = weights if isinstance(weights, list | tuple) else [weights]
    with name_scope(name, "compute_sampled_logits", [*parts, biases, inputs, labels]):
        labels = convert_to_tensor(labels, name="labels")
        if labels.dtype != dtypes.int64:
            labels = raw.Cast(labels, DstT=dtypes.int64)
        flat = raw.Reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed
            )
        drawn, true_count, drawn_count = _constants(sampled_values)
        inputs = convert_to_tensor(inputs, name="inputs")
        classes = raw.ConcatV2([flat, drawn], 0, name="concat")
        rows = embedding_lookup(weights, classes, partition_strategy=strategy)
        true_rows = slice_(rows, [0, 0], stack([_sizes(flat)[0], -1]))
        drawn_rows = slice_(rows, stack([_sizes(flat)[0], 0]), [-1, -1])
        logits: Any = matmul(inputs, drawn_rows, transpose_b=True)
        offsets = embedding_lookup(biases, classes, partition_strategy=strategy)
        true_offsets = slice_(offsets, [0], _sizes(flat))
        drawn_offsets = slice_(offsets, _sizes(flat), [-1])
        true_logits = _of_true(inputs, true_rows, num_true)
        true_logits = true_logits + raw.Reshape(true_offsets, [-1, num_true])
        logits = logits + drawn_offsets
        if remove_hits:
            logits = logits + _hits(labels, drawn, num_true, num_sampled, logits.dtype)
        true_logits, logits = true_logits - raw.Log(true_count), logits - raw.Log(drawn_count)
        both = raw.ConcatV2([true_logits, logits], 1, name="concat")
        share = raw.RealDiv(ones_like(true_logits), float(num_true), name="truediv")
        targets = [share, zeros_like(logits)]
        return both, raw.ConcatV2(targets, 1, name="concat")


def _constants(sampled_values: Any) -> Any:
    """Return classes drawn and the two expected counts, through which no gradient flows."""
    drawn, *counts = sampled_values
    drawn = convert_to_tensor(drawn)
    drawn = drawn if drawn.dtype == dtypes.int64 else raw.Cast(drawn, DstT=dtypes.int64)
    return [raw.StopGradient(each) for each in (drawn, *counts)]


def _sizes(tensor: Any) -> Any:
    return shape(tensor)  # a node for each use, as in TensorFlow: their number decides about seeds


def _of_true(inputs: Tensor, rows: Any, num_true: int) -> Any:
    """Return each example's products with the rows of its true classes: [batch, num_true]."""
    size = _sizes(rows)[1:2]
    grouping = concat([[-1, num_true], size], 0)
    wide = raw.ExpandDims(inputs, 1)
    products = raw.Mul(wide, raw.Reshape(rows, grouping))
    sums = _row_sums(raw.Reshape(products, concat([[-1], size], 0)))
    return raw.Reshape(sums, [-1, num_true])


def _row_sums(matrix: Any) -> Tensor:
    """Return the sum of each row: as a product, which is what TensorFlow makes."""
    ones_column = ones(stack([_sizes(matrix)[1], 1]), matrix.dtype)
    sums: Tensor = raw.Reshape(matmul(matrix, ones_column), [-1])
    return sums


def _hits(labels: Tensor, drawn: Tensor, num_true: int, num_sampled: int, dtype: Any) -> Any:
    """Return what takes accidental hits out of the softmax: the least float there, else 0."""
    rows, ids, weights = compute_accidental_hits(labels, drawn, num_true)
    columns = [raw.Reshape(rows, [-1, 1]), raw.Reshape(raw.Cast(ids, DstT=dtypes.int32), [-1, 1])]
    places = raw.ConcatV2(columns, 1, name="sparse_indices")
    dims = concat([_sizes(labels)[:1], expand_dims(num_sampled, 0)], 0)
    # an example may have one class twice: the last of equal places counts, as they are all alike
    if weights.dtype != dtype:
        weights = raw.Cast(weights, DstT=dtype)
    return sparse_to_dense(places, dims, weights, 0.0, validate_indices=False)

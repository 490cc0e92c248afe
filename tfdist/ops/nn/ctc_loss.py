"""Connectionist temporal classification: the loss of label sequences that are not aligned in time.

A sequence of labels has 2n + 1 states: the n labels, and a blank before, between and after them.
The forward and backward sums over all ways through the states go step by step in time, for all
sequences and all states at once, as logarithms.

Source: A. Graves et al., Connectionist Temporal Classification, ICML 2006.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.transpose import transpose
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse

__all__ = ["ctc_loss"]

CTC_LOSS = OpDef(
    "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> "
    "loss: T, gradient: T [preprocess_collapse_repeated: bool = False; "
    "ctc_merge_repeated: bool = True; ignore_longer_outputs_than_inputs: bool = False; "
    "T: type = float32 {float32,float64}]"
)

# The logarithm of 0: so little that nothing adds up to anything, and yet no infinity, whose
# difference to itself is not a number.
NOTHING = -1e30


@CTC_LOSS.shape
def ctc_loss_shape(
    inputs: Shape, labels_indices: Shape, labels_values: Shape, sequence_length: Shape
) -> list[Shape]:
    shapes.require_rank(inputs, "inputs", 3)
    shapes.require_rank(labels_indices, "labels_indices", 2)
    shapes.require_rank(labels_values, "labels_values", 1)
    shapes.require_rank(sequence_length, "sequence_length", 1)
    count = None if sequence_length is None else sequence_length[0]
    if inputs is None:
        return [(count,), None]
    count = shapes.merge_dim(inputs[1], count, "the numbers of sequences")
    return [(count,), (inputs[0], count, inputs[2])]


@CTC_LOSS.kernel
def ctc_loss_kernel(
    inputs: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, *,
    preprocess_collapse_repeated: bool, ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Any, Any]:  # fmt: skip
    check_lengths(inputs, sequence_length, InvalidArgumentError)
    labels, counts = _label_rows(labels_indices, labels_values, inputs.shape[1])
    fits = counts <= sequence_length
    if not (fits.all() or ignore_longer_outputs_than_inputs):
        raise _too_short(counts, sequence_length, int(np.argmin(fits)))
    labels, counts = _without_nulls(labels, counts, inputs.shape[2])
    if preprocess_collapse_repeated:
        labels, counts = _collapsed(labels, counts)
    states = _states(labels, counts, inputs.shape[2] - 1, ctc_merge_repeated, inputs.dtype)
    return _loss_and_gradient(inputs, np.where(fits, sequence_length, 0), states)


def _too_short(counts: Any, lengths: Any, row: int) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Not enough time for target transition sequence (required: {counts[row]}, available: "
        f"{lengths[row]}) of sequence {row}. You can turn this error into a warning by using the "
        "flag ignore_longer_outputs_than_inputs"
    )


def check_lengths(inputs: Any, lengths: Any, error: type[Exception]) -> None:
    """Raise unless there is a length for each sequence, within the time that there is."""
    steps, count, classes = inputs.shape if np.ndim(inputs) == 3 else (0, 0, 0)
    if not classes:
        raise InvalidArgumentError(
            f"inputs must be [time, sequences, classes], got shape {list(np.shape(inputs))}"
        )
    if np.shape(lengths) != (count,):
        raise InvalidArgumentError(
            f"len(sequence_length) != batch_size. len(sequence_length): {np.size(lengths)} "
            f"batch_size: {count}"
        )
    for row in np.flatnonzero((lengths > steps) | (lengths < 0))[:1]:
        raise error(f"sequence_length({row}) <= {steps}: got {lengths[row]}")


# labels


def _label_rows(indices: Any, values: Any, count: int) -> tuple[Any, Any]:
    """Return labels [sequences, longest], -1 where there is none, and how many each has."""
    if np.ndim(indices) != 2 or indices.shape != (len(values), 2):
        raise InvalidArgumentError(
            f"{len(values)} labels need indices of shape {(len(values), 2)}, got "
            f"{np.shape(indices)}"
        )
    rows, columns = indices.T
    if (rows < 0).any() or (rows >= count).any() or (columns < 0).any():
        raise InvalidArgumentError(f"labels_indices are not within [0, {count}): {rows.tolist()}")
    if (values < 0).any():
        raise InvalidArgumentError(f"All labels must be nonnegative integers: {values.tolist()}")
    counts = np.bincount(rows, minlength=count)
    for row in np.flatnonzero(counts == 0)[:1]:
        raise InvalidArgumentError(f"Labels length is zero in batch {row}")
    order = np.lexsort((columns, rows))
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    labels = np.full((count, int(counts.max(initial=0))), -1, np.int64)
    labels[rows[order], places] = values[order]
    return labels, counts


def _without_nulls(labels: Any, counts: Any, classes: int) -> tuple[Any, Any]:
    """Return labels without those at the end that are no class, or the blank."""
    null = labels >= classes - 1
    before = np.maximum.accumulate(null, axis=1)
    late = (before & ~null & (labels >= 0)).any(1)
    for row in np.flatnonzero(late)[:1]:
        raise InvalidArgumentError(
            "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
            f"{row} num_classes: {classes} labels: {labels[row].tolist()}"
        )
    return np.where(null, -1, labels), counts - null.sum(1)


def _collapsed(labels: Any, counts: Any) -> tuple[Any, Any]:
    """Return labels without those that are equal to the one before."""
    kept = labels >= 0
    kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    shorter = kept.sum(1)
    output = np.full_like(labels, -1)
    output[np.arange(labels.shape[1]) < shorter[:, None]] = labels[kept]
    return output, shorter


# states


class States(NamedTuple):
    """The states of sequences, [sequences, 2 * longest + 1].

    Attributes:
      labels: the class of each state.
      stay: 0 where a state may follow itself, else NOTHING.
      skip: 0 where a state may follow the one before the last, else NOTHING.
      last: 0 where a sequence may end, else NOTHING.
    """

    labels: Any
    stay: Any
    skip: Any
    last: Any


def _states(labels: Any, counts: Any, blank: int, merge: bool, dtype: Any) -> States:
    count, longest = labels.shape
    each = np.full((count, 2 * longest + 1), blank, np.int64)
    each[:, 1::2] = np.where(labels < 0, blank, labels)
    may_skip = each != blank
    may_skip[:, :2] = False
    if merge:  # between equal labels there must be a blank, or they are one
        may_skip[:, 2:] &= each[:, 2:] != each[:, :-2]
    may_stay = np.ones_like(may_skip) if merge else each == blank
    numbers = np.arange(each.shape[1])
    ends = 2 * counts[:, None]
    is_last = (numbers == ends) | (numbers == ends - 1)
    return States(each, *(_logarithm(flags, dtype) for flags in (may_stay, may_skip, is_last)))


def _logarithm(flags: Any, dtype: Any) -> Any:
    return np.where(flags, 0, NOTHING).astype(dtype)


def log_softmax(inputs: Any) -> Any:
    """Return the logarithms of the softmax along the last axis."""
    shifted = inputs - inputs.max(-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(-1, keepdims=True))
    return shifted


# sums over all ways


def _loss_and_gradient(inputs: Any, lengths: Any, states: States) -> tuple[Any, Any]:
    """Return minus the logarithm of the probability of each sequence, and its gradient.

    Both are 0 for a sequence of length 0.
    """
    steps, count, _ = inputs.shape
    logarithms = log_softmax(inputs)
    emitted = logarithms[:, np.arange(count)[:, None], states.labels]
    emitted = np.maximum(emitted, NOTHING)  # of a class that is ruled out by a score of -inf
    forward, scale = _forward(emitted, states)
    ended = np.maximum(lengths - 1, 0)
    if not steps:
        return np.zeros(count, inputs.dtype), np.zeros_like(inputs)
    rows = np.arange(count)
    total = _log_sum(forward[ended, rows] + states.last) + scale[ended, rows]
    possible = (total > NOTHING / 2) & (lengths > 0)
    gradient = np.exp(logarithms)
    likely = _posterior(emitted, forward, states, lengths, inputs.shape)
    gradient -= likely * possible[:, None]
    gradient *= np.arange(steps)[:, None, None] < lengths[:, None]
    loss = np.where(possible, -total, np.inf).astype(inputs.dtype)
    return np.where(lengths > 0, loss, inputs.dtype.type(0)), gradient


def _log_sum(values: Any) -> Any:
    """Return the logarithm of the sum along the last axis of what `values` are logarithms of."""
    highest = values.max(-1)
    return highest + np.log(np.exp(values - highest[..., None]).sum(-1))


def _of_three(one: Any, two: Any, three: Any) -> Any:
    """Return the logarithm of the sum of three numbers, of which these are the logarithms."""
    highest = np.maximum(np.maximum(one, two), three)
    total = np.exp(one - highest)
    total += np.exp(two - highest)
    total += np.exp(three - highest)
    np.log(total, total)
    total += highest
    return total


def _forward(emitted: Any, states: States) -> tuple[Any, Any]:
    """Return the sums of all ways from the start to each state at each time.

    Returns:
      Logarithms [time, sequences, states], less those of the likeliest state at each time, by which
      they keep their digits; and what they are less by, float64 [time, sequences].
    """
    steps, count, width = emitted.shape
    forward = np.empty_like(emitted)
    padded = np.full((count, width + 2), NOTHING, emitted.dtype)  # two states before the first
    own, before, second = padded[:, 2:], padded[:, 1:-1], padded[:, :-2]
    highest = np.empty((steps, count))
    sums = np.full((count, width), NOTHING, emitted.dtype)
    sums[:, :2] = 0  # a sequence begins with a blank, or with its first label
    for step in range(steps):
        if step:
            sums = _of_three(own + states.stay, before, second + states.skip)
        sums += emitted[step]
        greatest = sums.max(1, keepdims=True)
        highest[step] = greatest[:, 0]
        np.subtract(sums, greatest, out=forward[step])
        own[...] = forward[step]
    return forward, np.cumsum(highest, 0)


def _posterior(
    emitted: Any, forward: Any, states: States, lengths: Any, dims: tuple[int, ...]
) -> Any:
    """Return [time, sequences, classes]: how likely each class is, given the labels.

    Of all ways through a state, those from the start are multiplied by those to the end; at each
    time the states' shares add up to 1.

    Args:
      emitted: logarithms of the probabilities of the states, [time, sequences, states].
      forward: see `_forward`.
      states: of the sequences.
      lengths: of the sequences.
      dims: of the result.
    """
    steps, count, width = emitted.shape
    likely = np.empty_like(emitted)
    padded = np.full((count, width + 2), NOTHING, emitted.dtype)  # two states after the last
    own, after, second = padded[:, :-2], padded[:, 1:-1], padded[:, 2:]
    skip = np.full_like(padded, NOTHING)
    skip[:, :-2] = states.skip
    backward = np.full_like(states.last, NOTHING)
    for step in reversed(range(steps)):
        if step + 1 < steps:
            own[...] = backward + emitted[step + 1]
            backward = _of_three(own + states.stay, after, second + skip[:, 2:])
            backward -= backward.max(1, keepdims=True)
        ends = lengths == step + 1
        if ends.any():
            backward[ends] = states.last[ends]
        np.add(forward[step], backward, out=likely[step])
    likely -= likely.max(-1, keepdims=True)
    np.exp(likely, likely)
    likely /= likely.sum(-1, keepdims=True)
    cells = np.arange(steps * count).reshape(steps, count, 1) * dims[2] + states.labels
    added = np.bincount(cells.reshape(-1), likely.reshape(-1), minlength=int(np.prod(dims)))
    return added.reshape(dims).astype(emitted.dtype)


@CTC_LOSS.gradient
def ctc_loss_gradient(op: Operation, d_loss: Any, _: Any) -> list[Any]:
    gradient = raw.PreventGradient(
        op.outputs[1],
        message="Currently there is no way to take the second derivative of ctc_loss",
    )
    return [raw.Mul(raw.ExpandDims(d_loss, -1), gradient, name="mul"), None, None, None]


# public functions


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """Return the CTC loss of each sequence of labels: `tf.nn.ctc_loss`.

    Args:
      labels: an int32 SparseTensor [sequences, longest]; the last class is the blank, no label.
      inputs: scores, [time, sequences, classes].
      sequence_length: int32 [sequences], how many steps in time each has.
      preprocess_collapse_repeated: whether equal labels in a row count once.
      ctc_merge_repeated: whether equal classes in a row are one label.
      ignore_longer_outputs_than_inputs: whether more labels than steps give a loss of 0; else
        they are an error.
      time_major: whether `inputs` has the time first; else [sequences, time, classes].
      logits: another name of `inputs`.

    Raises:
      TypeError: `labels` is not sparse.
      InvalidArgumentError: a sequence has no labels, or too many (when it runs).

    Example:
      >>> labels = SparseTensor([[0, 0]], [0], [1, 1])
      >>> Session().run(ctc_loss(labels, zeros([2, 1, 3]), [2]))
      array([1.0986123], dtype=float32)
    """
    if not isinstance(labels, SparseTensor | SparseTensorValue):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    sparse = as_sparse(labels)
    scores = convert_to_tensor(inputs if logits is None else logits, name="inputs")
    if not time_major:
        scores = transpose(scores, [1, 0, 2])
    loss, _ = raw.CTCLoss(
        scores,
        sparse.indices,
        sparse.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss  # type: ignore[no-any-return]

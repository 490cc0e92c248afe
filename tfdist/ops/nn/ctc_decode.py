"""Label sequences from scores of connectionist temporal classification: the best, or a search.

The last class is the blank. What steps in time give is collapsed: equal classes in a row are one
label, and blanks are none.

Source: A. Graves et al., Connectionist Temporal Classification, ICML 2006; A. Graves, Sequence
Transduction with Recurrent Neural Networks, 2012 (the search of prefixes).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import FailedPreconditionError, InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.nn.ctc_loss import NOTHING, check_lengths, log_softmax
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = ["ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder"]

GREEDY = OpDef(
    "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> decoded_indices: int64, "
    "decoded_values: int64, decoded_shape: int64, log_probability: T "
    "[merge_repeated: bool = False; T: type = float32 {float32,float64}]"
).not_differentiable()


def _count_of(inputs: Shape, sequence_length: Shape) -> int | None:
    """Return what is known of the number of sequences."""
    shapes.require_rank(inputs, "inputs", 3)
    shapes.require_rank(sequence_length, "sequence_length", 1)
    count = None if sequence_length is None else sequence_length[0]
    what = "the numbers of sequences"
    return shapes.merge_dim(None if inputs is None else inputs[1], count, what)


@GREEDY.shape
def greedy_shape(inputs: Shape, sequence_length: Shape) -> list[Shape]:
    return [(None, 2), (None,), (2,), (_count_of(inputs, sequence_length), 1)]


@GREEDY.kernel
def greedy_kernel(inputs: Any, sequence_length: Any, *, merge_repeated: bool) -> list[Any]:
    check_lengths(inputs, sequence_length, FailedPreconditionError)
    steps, _, classes = inputs.shape
    best = inputs.argmax(2)
    during = np.arange(steps)[:, None] < sequence_length
    score = np.where(during, inputs.max(2), 0).sum(0, dtype=inputs.dtype)
    kept = during & (best != classes - 1)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    return [*_sparse(best.T, kept.T), -score[:, None]]


def _sparse(labels: Any, kept: Any) -> list[Any]:
    """Return those labels [sequences, steps] that are kept, as a sparse tensor without gaps."""
    rows, _ = np.nonzero(kept)
    counts = kept.sum(1)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    dims = np.array([len(labels), counts.max(initial=0)], np.int64)
    return [np.stack([rows, columns], 1).astype(np.int64), labels[kept].astype(np.int64), dims]


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """Return the labels of the likeliest class at each step: `tf.nn.ctc_greedy_decoder`.

    Args:
      inputs: scores, [time, sequences, classes]; the last class is the blank.
      sequence_length: int32 [sequences], how many steps in time each has.
      merge_repeated: whether equal classes in a row are one label.

    Returns:
      A list of one SparseTensor of int64 [sequences, longest], and [sequences, 1]: minus the sums
      of the greatest scores.

    Raises:
      FailedPreconditionError: a sequence is longer than the time (when it runs).

    Example:
      >>> scores = [[[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]], [[3.0, 0.0, 0.0]]]
      >>> (labels,), score = ctc_greedy_decoder(scores, [3])
      >>> Session().run([labels.values, score])
      [array([0, 0]), array([[-6.]], dtype=float32)]
    """
    *parts, score = raw.CTCGreedyDecoder(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(*parts)], score


BEAM_SEARCH = OpDef(
    "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> decoded_indices: top_paths*int64, "
    "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T "
    "[beam_width: int >=1; top_paths: int >=1; merge_repeated: bool = True; "
    "T: type = float32 {float32,float64}]"
).not_differentiable()


@BEAM_SEARCH.shape
def beam_search_shape(inputs: Shape, sequence_length: Shape, *, top_paths: int) -> list[Shape]:
    count = _count_of(inputs, sequence_length)
    parts: list[Shape] = [(None, 2)] * top_paths + [(None,)] * top_paths + [(2,)] * top_paths
    return [*parts, (count, top_paths)]


class Beams(NamedTuple):
    """The prefixes that are looked at, [sequences, width] each.

    Attributes:
      keys: a number for each prefix, the same for equal ones.
      parents: that of the prefix without its last label.
      labels: the last label, -1 of the empty prefix.
      nodes: where the prefix stands in the tree.
      blank: logarithm of the probability of all ways to it that end with a blank.
      label: of those that end with its last label.
    """

    keys: Any
    parents: Any
    labels: Any
    nodes: Any
    blank: Any
    label: Any

    @property
    def total(self) -> Any:
        """Return the logarithm of the probability of all ways to each prefix."""
        return np.logaddexp(self.blank, self.label)


class Tree(NamedTuple):
    """All prefixes that were looked at: node 0 is the empty one.

    Attributes:
      parents: the node of the prefix without its last label, [sequences, nodes].
      labels: the last label.
    """

    parents: Any
    labels: Any


@BEAM_SEARCH.kernel
def beam_search_kernel(
    inputs: Any, sequence_length: Any, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> list[Any]:
    check_lengths(inputs, sequence_length, FailedPreconditionError)
    if top_paths > beam_width:
        raise InvalidArgumentError("requested more paths than the beam width.")
    steps, count, _ = inputs.shape
    logarithms = log_softmax(inputs.astype(np.float64))
    tree = Tree(*(np.full((count, 1 + steps * beam_width), -1) for _ in range(2)))
    beams = _first_beams(count, beam_width)
    for step in range(steps):
        rows = np.flatnonzero(sequence_length > step)
        if not len(rows):
            break
        now = Beams(*(part[rows] for part in beams))
        after = _stepped(now, logarithms[step, rows], tree, rows, 1 + step * beam_width)
        for part, new in zip(beams, after, strict=True):
            part[rows] = new
    total = beams.total[:, :top_paths]
    if (total < NOTHING / 2).any():
        raise InvalidArgumentError("Less leaves in the beam search than requested.")
    paths = [_path(tree, beams.nodes[:, path], steps, merge_repeated) for path in range(top_paths)]
    return [*(part for kind in zip(*paths, strict=True) for part in kind),
            total.astype(inputs.dtype)]  # fmt: skip


def _first_beams(count: int, width: int) -> Beams:
    """Return the empty prefix, and room for others."""
    keys, parents = np.zeros((2, count, width), np.uint64)
    blank, label = np.full((2, count, width), NOTHING)
    keys[:, 0], blank[:, 0] = 1, 0
    labels, nodes = np.full((count, width), -1), np.zeros((count, width), int)
    return Beams(keys, parents, labels, nodes, blank, label)


# Keys of prefixes are polynomials of their labels modulo 2**64: different prefixes that have one
# are rare.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def _stepped(beams: Beams, logarithms: Any, tree: Tree, rows: Any, first: int) -> Beams:
    """Return the likeliest prefixes after one more step in time.

    Args:
      beams: those before it.
      logarithms: of the probabilities of the classes, [sequences, classes].
      tree: gets the new prefixes.
      rows: which sequences of the tree these are.
      first: the first free node.
    """
    count, width = beams.keys.shape
    classes = logarithms.shape[1] - 1
    total = beams.total
    blank = total + logarithms[:, -1:]
    label, known = _kept(beams, total, logarithms)
    longer = np.broadcast_to(total[:, :, None], (count, width, classes)).copy()
    own = np.maximum(beams.labels, 0)[:, :, None]
    repeated = np.where(beams.labels < 0, total, beams.blank)[:, :, None]
    np.put_along_axis(longer, own, repeated, 2)  # an equal label counts after a blank only
    longer += logarithms[:, None, :-1]
    longer[known] = NOTHING  # a prefix that is looked at already
    scores = np.concatenate([np.logaddexp(blank, label), longer.reshape(count, -1)], 1)
    chosen = _best(scores, width)
    return _chosen(beams, chosen, (blank, label, longer), tree, rows, first)


def _kept(beams: Beams, total: Any, logarithms: Any) -> tuple[Any, Any]:
    """Return the ways to each prefix that end with its last label, after one more step.

    Returns:
      Logarithms [sequences, width], and for indexing (sequence, prefix, label) those longer
      prefixes that are looked at themselves.
    """
    has_label = beams.labels >= 0
    alive = total > NOTHING / 2
    same = beams.parents[:, :, None] == beams.keys[:, None, :]
    same &= (has_label & alive)[:, :, None] & alive[:, None, :]
    row, child, parent = np.nonzero(same)
    label = beams.labels[row, child]
    after_blank = label == beams.labels[row, parent]
    came = np.where(after_blank, beams.blank[row, parent], total[row, parent])
    found = beams.label.copy()
    found[row, child] = np.logaddexp(found[row, child], came)
    found += np.take_along_axis(logarithms, np.maximum(beams.labels, 0), 1)
    return np.where(has_label, found, NOTHING), (row, parent, label)


def _best(scores: Any, width: int) -> Any:
    """Return the places of the greatest scores of each row, the greatest first."""
    if scores.shape[1] > width:
        places = np.sort(np.argpartition(-scores, width - 1, axis=1)[:, :width], 1)
    else:
        places = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    order = np.argsort(-np.take_along_axis(scores, places, 1), axis=1, kind="stable")
    return np.take_along_axis(places, order, 1)


def _chosen(
    beams: Beams, chosen: Any, scores: tuple[Any, Any, Any], tree: Tree, rows: Any, first: int
) -> Beams:
    """Return the prefixes at the places `chosen`: first those before, then each with each label."""
    width = beams.keys.shape[1]
    blank, label, longer = scores
    classes = longer.shape[2]
    is_new = chosen >= width
    origin = np.where(is_new, (chosen - width) // classes, chosen)
    added = (chosen - width) % classes
    taken = Beams(*(np.take_along_axis(part, origin, 1) for part in beams))
    nodes = np.arange(first, first + width)
    tree.parents[rows, first : first + width] = taken.nodes
    tree.labels[rows, first : first + width] = added
    longest = longer.reshape(len(longer), -1)
    of_new = np.take_along_axis(longest, np.maximum(chosen - width, 0), 1)
    return Beams(
        np.where(is_new, taken.keys * _FACTOR + added.astype(np.uint64) + np.uint64(1), taken.keys),
        np.where(is_new, taken.keys, taken.parents),
        np.where(is_new, added, taken.labels),
        np.where(is_new, nodes, taken.nodes),
        np.where(is_new, NOTHING, np.take_along_axis(blank, origin, 1)),
        np.where(is_new, of_new, np.take_along_axis(label, origin, 1)),
    )


def _path(tree: Tree, nodes: Any, steps: int, merge: bool) -> list[Any]:
    """Return the labels on the way from the root to a node of each sequence, as a sparse tensor."""
    rows = np.arange(len(nodes))
    backwards = np.full((len(nodes), steps), -1)
    for step in range(steps):
        backwards[:, step] = np.where(nodes > 0, tree.labels[rows, nodes], -1)
        nodes = np.where(nodes > 0, tree.parents[rows, nodes], 0)
    labels = backwards[:, ::-1]
    kept = labels >= 0
    if merge:
        kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    return _sparse(labels, kept)


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """Return the likeliest label sequences that a search finds: `tf.nn.ctc_beam_search_decoder`.

    Args:
      inputs: scores, [time, sequences, classes]; the last class is the blank.
      sequence_length: int32 [sequences], how many steps in time each has.
      beam_width: how many prefixes are kept after each step.
      top_paths: how many sequences are wanted.
      merge_repeated: whether equal labels in a row of a result are one (a blank between them
        does not count then).

    Returns:
      A list of `top_paths` SparseTensors of int64 [sequences, longest], the likeliest first; and
      the logarithms of the probabilities, [sequences, top_paths].

    Raises:
      InvalidArgumentError: `top_paths` is more than are kept, or found (when it runs).
      FailedPreconditionError: a sequence is longer than the time (when it runs).

    Example:
      >>> scores = [[[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]], [[3.0, 0.0, 0.0]]]
      >>> (labels,), _ = ctc_beam_search_decoder(scores, [3], merge_repeated=False)
      >>> Session().run(labels.values)
      array([0, 0])
    """
    *parts, scores = raw.CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths,
        merge_repeated=merge_repeated,
    )  # fmt: skip
    return [SparseTensor(*parts[path::top_paths]) for path in range(top_paths)], scores


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Return the likeliest label sequences that a search finds, equal labels in a row too.

    Args:
      inputs: scores, [time, sequences, classes]; the last class is the blank.
      sequence_length: int32 [sequences], how many steps in time each has.
      beam_width: how many prefixes are kept after each step.
      top_paths: how many sequences are wanted.

    Returns:
      What `ctc_beam_search_decoder` does with `merge_repeated=False`.

    Example:
      >>> scores = [[[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]], [[3.0, 0.0, 0.0]]]
      >>> (labels,), _ = ctc_beam_search_decoder_v2(scores, [3])
      >>> Session().run(labels.values)
      array([0, 0])
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)

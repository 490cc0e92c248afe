"""Tensors of a beam search: [batch, beams, ...], as cells take them, and in another order.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.BeamSearchDecoder and tile_batch.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.nn.gather_tree import gather_tree
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["BeamSearchDecoderState", "tile_batch"]

_LOG = logging.getLogger("tensorflow")


class BeamSearchDecoderState(NamedTuple):
    """The state of a `BeamSearchDecoder`.

    Attributes:
      cell_state: of its cell, each tensor [batch, beams, ...].
      log_probs: float [batch, beams].
      finished: bool [batch, beams].
      lengths: int64 [batch, beams].
      accumulated_attention_probs: float [batch, beams, places]; () if they are not needed.
    """

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class Beams:
    """How many sequences, and how many beams of each.

    Args:
      batch_size: int scalar tensor.
      width: number of beams.

    Attributes:
      known: the number of sequences if it is known, or None.
    """

    def __init__(self, batch_size: Any, width: int) -> None:
        self._batch_size, self._width = batch_size, width
        known = constant_value(batch_size)
        self.known = None if known is None else int(known)

    def split(self, tensor: Any) -> Any:
        """Return a tensor [batch * beams, ...] as [batch, beams, ...]."""
        if not _has_batch(tensor):
            return tensor
        sizes: Any = shape(tensor)
        made = reshape(tensor, concat([[self._batch_size, self._width], sizes[1:]], 0))
        made.set_shape([self._first(tensor), self._width, *tensor.plain_shape[1:]])
        return made

    def _first(self, tensor: Any) -> int | None:
        rows = tensor.plain_shape[0]
        return self.known if rows is None else rows // self._width

    def merge(self, tensor: Any) -> Any:
        """Return a tensor [batch, beams, ...] as [batch * beams, ...]."""
        if not _has_batch(tensor):
            return tensor
        sizes: Any = shape(tensor)
        made = reshape(tensor, concat([[self._batch_size * self._width], sizes[2:]], 0))
        known = tensor.plain_shape
        made.set_shape([None if known[0] is None else known[0] * known[1], *known[2:]])
        return made

    def gather(self, tensor: Any, parents: Any, name: str | None = None) -> Any:
        """Return of a tensor [batch, beams, ...] the beams of numbers [batch, beams]."""
        return self._gathered(tensor, parents, self._width, [-1, *_rest(tensor)], name)

    def gather_state(self, tensor: Any, parents: Any) -> Any:
        """Do as `gather`; what does not belong to beams stays as it is."""
        return self.gather(tensor, parents) if _has_batch(tensor) else tensor

    def gather_flat(self, tensor: Any, places: Any, name: str) -> Any:
        """Return of a tensor [batch, beams, symbols] the elements of numbers [batch, beams]."""
        sizes: Any = shape(tensor)
        return self._gathered(tensor, places, self._width * sizes[2], [-1], name)

    def _gathered(
        self, tensor: Any, numbers: Any, step: Any, flat: list[Any], name: str | None
    ) -> Any:
        with scopes.name_scope(name, "tensor_gather_helper"):
            places = numbers + expand_dims(range_(self._batch_size) * step, 1)
            taken = gather(reshape(tensor, flat), reshape(places, [-1]))
            made = reshape(taken, concat([shape(numbers), flat[1:]], 0), name="output")
        rows = numbers.plain_shape[0] if self.known is not None else tensor.plain_shape[0]
        made.set_shape([rows, self._width, *tensor.plain_shape[2 : 1 + len(flat)]])
        return made

    def is_split(self, array: TensorArray) -> bool:
        """Return whether elements of an array may be [batch, beams, ...] or as many in one row."""
        known = array.element_shape.as_list()
        if self.known is None or known[0] is None:
            return True
        if len(known) > 1 and known[1] is not None:
            return known[:2] == [self.known, self._width]
        return bool(known[0] == self.known * self._width)

    def sorted(self, array: TensorArray, parents: Any, lengths: Any) -> Any:
        """Return an array's elements in the order of the beams that are the results."""
        stacked = array.stack()
        sizes: Any = shape(parents)
        numbers = tile(reshape(range_(self._width), [1, 1, -1]), [sizes[0], sizes[1], 1])
        lengths = cast(lengths, "int32")
        from_beams = gather_tree(numbers, parents, reduce_max(lengths, 1), self._width + 1)
        within = transpose(sequence_mask(lengths, maxlen=sizes[0]), [2, 0, 1])
        from_beams = where(within, from_beams, numbers)
        examples: Any = reshape(range_(sizes[0] * sizes[1]), [sizes[0], sizes[1], 1])
        rows = self._width * examples + from_beams
        whole = shape(stacked)
        flat = reshape(stacked, concat([[sizes[0] * sizes[1] * self._width], [-1]], 0))
        made = reshape(gather(flat, reshape(rows, [-1])), whole)
        made.set_shape(stacked.plain_shape)
        return made


def _rest(tensor: Any) -> list[Any]:
    known = tensor.plain_shape[2:]
    sizes: Any = shape(tensor)
    return [sizes[2 + k] if size is None else size for k, size in enumerate(known)]


def _has_batch(tensor: Any) -> bool:
    if isinstance(tensor, TensorArray):
        return False
    if tensor.plain_shape is None:
        raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")
    return bool(tensor.plain_shape)


def sorted_arrays(beams: Beams, state: Any, parents: Any, lengths: Any) -> Any:
    """Return a state with its TensorArrays as sorted tensors, where that can be."""

    def one(part: Any) -> Any:
        if not isinstance(part, TensorArray):
            return part
        if part.element_shape.ndims is None or part.element_shape.ndims < 1:
            _LOG.warning(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam "
                "search result: the rank of its elements is unknown", part,
            )  # fmt: skip
            return part
        if not beams.is_split(part):
            _LOG.warning(
                "TensorArray reordering expects elements to be reshapable to [batch, beams, ...], "
                "which is incompatible with the current shape %s. Consider setting "
                "reorder_tensor_arrays to False to disable TensorArray reordering during the beam "
                "search.", part.element_shape,
            )  # fmt: skip
            return part
        return beams.sorted(part, parents, lengths)

    return nest.map_leaves(one, state)


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Return each example of a tensor, or of a structure of them, several times.

    Args:
      t: tensors [batch, ...].
      multiplier: how often.
      name: of the nodes' scope.

    Raises:
      ValueError: a tensor has no batch, or its rank is unknown.

    Example:
      >>> Session().run(contrib.seq2seq.tile_batch(constant([1, 2]), 3))
      array([1, 1, 1, 2, 2, 2], dtype=int32)
    """
    with scopes.name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_leaves(lambda part: _tiled(part, multiplier), t)


def _tiled(t: Any, multiplier: Any) -> Tensor:
    t = convert_to_tensor(t, name="t")
    known, sizes = t.plain_shape, shape(t)
    if known is None:
        raise ValueError("t must have statically known rank")
    if not known:
        raise ValueError(f"t must have a batch to be tiled, but is a scalar: {t}")
    many = tile(expand_dims(t, 1), [1, multiplier, *[1] * (len(known) - 1)])
    rows: Any = sizes
    made = reshape(many, concat([[rows[0] * multiplier], rows[1:]], 0))
    first = None if known[0] is None or not isinstance(multiplier, int) else known[0] * multiplier
    made.set_shape([first, *known[1:]])
    return made

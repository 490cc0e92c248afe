"""dynamic_decode: a loop that lets a decoder speak until all sequences have ended.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.layers.base import Layer
from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
from tfdist.models.rnn.rnn_cell import check_cell, map_sizes, size_list, zeros_of
from tfdist.models.rnn.step import map_pairs
from tfdist.models.seq2seq.helpers import Helper
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import fill, zeros_like
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.while_loop import while_loop
from tfdist.ops.math.comparison import logical_not, logical_or, where
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.tensor_array.tensor_array import TensorArray
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode"]


class Decoder:
    """What `dynamic_decode` lets speak: a step at a time.

    A subclass has the properties `batch_size`, `output_size` and `output_dtype`, and the methods
    `initialize` and `step`; `finalize` if it changes what all steps gave.
    """

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences: an int, or a tensor."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its batch_size")

    @property
    def output_size(self) -> Any:
        """Return the sizes of a step's output, as those of a cell."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its output_size")

    @property
    def output_dtype(self) -> Any:
        """Return the types of a step's output."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its output_dtype")

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the first inputs, and the first state."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize")

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Return a step's output, the next state and inputs, and which sequences have ended."""
        raise NotImplementedError(f"{type(self).__name__} has no step")

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Return outputs [time, ...] and last state as `dynamic_decode` shall return them."""
        raise NotImplementedError(f"{type(self).__name__} has no finalize")

    @property
    def tracks_own_finished(self) -> bool:
        """Return whether a sequence that has ended may go on, as beams that change places do."""
        return False


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Tensor]:
    """Return what a decoder says until all sequences have ended.

    Args:
      decoder: a `Decoder`.
      output_time_major: whether the first axis of outputs is time, not the batch.
      impute_finished: whether outputs behind an end are 0, and the state stays what it was there;
        without it they are what the decoder says.
      maximum_iterations: int32 scalar, steps at most.
      parallel_iterations: rounds that may overlap while one waits.
      swap_memory: taken and not needed; see `tf.while_loop`.
      scope: variable scope, or its name; "decoder" by default.
      kwargs: not used.

    Returns:
      Outputs, as the decoder's `finalize` makes them; the last state; lengths, int32 [batch].

    Raises:
      TypeError: `decoder` is none.
      ValueError: `maximum_iterations` is no scalar.

    Example: a cell that counts, until 3 is said.
      >>> class Count(nn.rnn_cell.RNNCell):
      ...     state_size, output_size = 5, 5
      ...
      ...     def call(self, inputs, state):
      ...         return one_hot(cast(inputs[:, 0] + 1, "int32"), 5), state
      >>> one_to_five = cast(reshape(range(5), [5, 1]), "float32")
      >>> helper = contrib.seq2seq.GreedyEmbeddingHelper(one_to_five, [0, 1], 3)
      >>> decoder = contrib.seq2seq.BasicDecoder(Count(), helper, zeros([2, 5]))
      >>> outputs, _, lengths = contrib.seq2seq.dynamic_decode(decoder, impute_finished=True)
      >>> outputs, lengths = Session().run([outputs.sample_id, lengths])
      >>> outputs.tolist(), lengths.tolist()
      ([[1, 2, 3], [2, 3, 0]], [3, 2])
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(
                maximum_iterations, "int32", name="maximum_iterations"
            )
            if maximum_iterations.plain_shape not in ((), None):
                raise ValueError("maximum_iterations must be a scalar")
        loop = _Loop(decoder, maximum_iterations, impute_finished)
        arrays, state, lengths = loop.run(parallel_iterations, swap_memory)
        outputs = nest.map_leaves(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass  # most have nothing to do there
        if not output_time_major:
            outputs = nest.map_leaves(transpose_batch_time, outputs)
    return outputs, state, lengths


class _Loop:
    """What there is before the first step."""

    def __init__(self, decoder: Any, maximum_iterations: Any, impute_finished: bool) -> None:
        self._decoder, self._maximum, self._imputes = decoder, maximum_iterations, impute_finished
        self._finished, self._inputs, self._state = decoder.initialize()
        self._zeros = map_pairs(
            self._zero_output, _shapes(decoder.output_size), decoder.output_dtype
        )
        if maximum_iterations is not None:
            self._finished = logical_or(self._finished, 0 >= maximum_iterations)
        self._lengths = zeros_like(self._finished, dtype="int32")
        self._time = constant(0, "int32")
        self._arrays = map_pairs(self._array, _shapes(decoder.output_size), decoder.output_dtype)

    def _zero_output(self, size: Any, dtype: Any) -> Tensor:
        made: Tensor = zeros_of(size, self._decoder.batch_size, dtype)
        made.set_shape([self._known_batch(), *size_list(size)])
        return made

    def _array(self, size: Any, dtype: Any) -> TensorArray:
        known = [self._known_batch(), *size_list(size)]
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=known)

    def _known_batch(self) -> int | None:
        batch = self._decoder.batch_size
        if isinstance(batch, int):
            return batch
        known = constant_value(batch)
        return None if known is None else int(known)

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any, Any]:
        """Return arrays of outputs, the last state, and the lengths."""
        first = (
            self._time, self._arrays, self._state, self._inputs, self._finished, self._lengths
        )  # fmt: skip
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, _: logical_not(reduce_all(finished)),
            self._round, first, parallel_iterations=parallel_iterations,
            maximum_iterations=self._maximum, swap_memory=swap_memory,
        )  # fmt: skip
        return arrays, state, lengths

    def _round(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> tuple[Any, ...]:
        outputs, after, inputs, ended = self._decoder.step(time, inputs, state)
        if not self._decoder.tracks_own_finished:
            ended = logical_or(ended, finished)
        lengths = where(logical_not(finished), fill(shape(lengths), time + 1), lengths)
        nest.check_same(state, after)
        nest.check_same(outputs, self._decoder.output_dtype)
        if self._imputes:
            outputs = map_pairs(lambda no, out: where(finished, no, out), self._zeros, outputs)
            after = map_pairs(lambda old, new: _kept(finished, old, new), state, after)
        arrays = map_pairs(lambda out, array: array.write(time, out), outputs, arrays)
        return time + 1, arrays, after, inputs, ended, lengths


def _shapes(sizes: Any) -> Any:
    return map_sizes(lambda size: TensorShape(size_list(size)), sizes)


def _kept(finished: Any, old: Any, new: Any) -> Any:
    """Return the state that stays where a sequence has ended."""
    if isinstance(old, TensorArray) or new.plain_shape == ():
        return new  # it belongs to all sequences
    new.set_shape(old.plain_shape)
    return raw.Select(finished, old, new)


class BasicDecoderOutput(NamedTuple):
    """What a `BasicDecoder` says.

    Attributes:
      rnn_output: the cell's output, behind the output layer if there is one.
      sample_id: what the helper made of it.
    """

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, and a helper that makes its inputs.

    Args:
      cell: an RNNCell.
      helper: a `Helper`.
      initial_state: of the cell, often the last one of an encoder.
      output_layer: a layer behind the cell's output, often a `tf.layers.Dense`.

    Raises:
      TypeError: an argument is of another class.

    Example:
      >>> cell, inputs = nn.rnn_cell.GRUCell(4), ones([2, 3, 5])
      >>> helper = contrib.seq2seq.TrainingHelper(inputs, [3, 2])
      >>> state = cell.zero_state(2, "float32")
      >>> decoder = contrib.seq2seq.BasicDecoder(cell, helper, state, layers.Dense(6))
      >>> outputs, _, _ = contrib.seq2seq.dynamic_decode(decoder)
      >>> outputs.rnn_output.shape.as_list()
      [2, None, 6]
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._output_layer = cell, helper, output_layer
        self._initial_state = initial_state

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences, which the helper tells."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """Return the sizes of outputs."""
        return BasicDecoderOutput(self._rnn_size(), self._helper.sample_ids_shape)

    def _rnn_size(self) -> Any:
        size, layer = self._cell.output_size, self._output_layer
        if layer is None:
            return size

        def behind(size: Any) -> TensorShape:
            known = layer.compute_output_shape(TensorShape([None, *size_list(size)]))
            return TensorShape(TensorShape(known).as_list()[1:])

        return map_sizes(behind, size)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """Return the types of outputs; the cell's are those of its state."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            map_sizes(lambda _: dtype, self._rnn_size()), self._helper.sample_ids_dtype
        )

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the first inputs, and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Return a step's output, the next state and inputs, and which sequences have ended."""
        with scopes.name_scope(name, "BasicDecoderStep", nest.flatten([time, inputs])):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, following, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), state, following, finished

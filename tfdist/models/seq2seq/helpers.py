"""Helpers: what makes the inputs of a decoder's cell, from a text or from its own outputs.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.shape import shape, size
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.comparison import equal
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.math.top_k import argmax
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.random.distributions import multinomial
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["GreedyEmbeddingHelper", "Helper", "SampleEmbeddingHelper", "TrainingHelper"]


class Helper:
    """What all helpers are; `BasicDecoder` asks it.

    A subclass has the properties `batch_size`, `sample_ids_shape` and `sample_ids_dtype`, and the
    methods `initialize`, `sample` and `next_inputs`.
    """

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> Any:
        """Return the shape of what is said for one sequence: a TensorShape."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self) -> Any:
        """Return the type of what is said."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which sequences have ended, and the first inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize")

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what the outputs say."""
        raise NotImplementedError(f"{type(self).__name__} has no sample")

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the next inputs, and the next state."""
        raise NotImplementedError(f"{type(self).__name__} has no next_inputs")


class _Ids(Helper):
    """A helper that says one number for each sequence."""

    @property
    def sample_ids_shape(self) -> TensorShape:
        """Return the shape of what is said for one sequence: of a number."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """Return the type of what is said."""
        return "int32"


class TrainingHelper(_Ids):
    """A helper that reads the inputs from a text.

    Args:
      inputs: tensor [batch, time, ...], or [time, batch, ...] if `time_major`, or a structure.
      sequence_length: int [batch].
      time_major: whether the first axis of inputs is time.
      name: of the nodes' scope.

    Raises:
      ValueError: there are no lengths.

    Example:
      >>> text = constant([[[1.0], [2.0]], [[3.0], [4.0]]])
      >>> helper = contrib.seq2seq.TrainingHelper(text, [2, 1])
      >>> finished, inputs = helper.initialize()
      >>> Session().run([finished, inputs])
      [array([False, False]), array([[1.],
             [3.]], dtype=float32)]
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        values = nest.flatten([inputs, sequence_length])
        with scopes.name_scope(name, "TrainingHelper", values):
            inputs = nest.map_leaves(lambda each: convert_to_tensor(each, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_leaves(transpose_batch_time, inputs)
            self._arrays = nest.map_leaves(array_of, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            known = self._sequence_length.plain_shape
            if known is not None and len(known) != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {known}"
                )
            self._zero_inputs = nest.map_leaves(lambda each: zeros_like(each[0, :]), inputs)
            self._batch_size = size(self._sequence_length)

    @property
    def inputs(self) -> Any:
        """Return what it reads."""
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        """Return the lengths."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which sequences have ended, and the first inputs."""
        with scopes.name_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            return finished, self._read_unless(reduce_all(finished), 0)

    def _read_unless(self, is_over: Any, time: Any) -> Any:
        def read() -> list[Any]:
            return [array.read(time) for array in nest.flatten(self._arrays)]

        made = cond(is_over, lambda: nest.flatten(self._zero_inputs), read)
        return nest.pack_as(self._arrays, list(made) if isinstance(made, list | tuple) else [made])

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return where the outputs are greatest, for those who look; nothing depends on it."""
        with scopes.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return cast(argmax(outputs, axis=-1), "int32")

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the next inputs, and the state."""
        with scopes.name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read_unless(reduce_all(finished), following), state


def array_of(tensor: Any) -> TensorArray:
    """Return the parts of a tensor along its first axis."""
    sizes: Any = shape(tensor)
    array = TensorArray(tensor.dtype, size=sizes[0], element_shape=tensor.plain_shape[1:])
    return array.unstack(tensor)


class GreedyEmbeddingHelper(_Ids):
    """A helper that says what is likeliest, and whose next input is the row of that.

    Args:
      embedding: float [symbols, size], or a function from ids to inputs.
      start_tokens: int [batch], what stands before the first word.
      end_token: int, what ends a sequence.

    Raises:
      ValueError: the tokens have other ranks.

    Example: see `dynamic_decode`.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, "int32", name="start_tokens")
        self._end_token = convert_to_tensor(end_token, "int32", name="end_token")
        if len(self._start_tokens.plain_shape or [0]) != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = size(self._start_tokens)
        if self._end_token.plain_shape not in ((), None):
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which sequences have ended, none of them, and the first inputs."""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what is likeliest."""
        _check_logits(outputs)
        return argmax(outputs, axis=-1, output_type="int32")

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the rows of what was said, and the state."""
        finished = equal(sample_ids, self._end_token)
        inputs = cond(
            reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A helper that says what is likely, by chance.

    Args:
      embedding: float [symbols, size], or a function from ids to inputs.
      start_tokens: int [batch], what stands before the first word.
      end_token: int, what ends a sequence.
      softmax_temperature: what outputs are divided by; above 1 it is more by chance.
      seed: for the choice.

    Raises:
      ValueError: the tokens have other ranks.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what was drawn."""
        _check_logits(outputs)
        if self._softmax_temperature is not None:
            outputs = outputs / self._softmax_temperature
        return drawn(outputs, self._seed)


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """Return the function from ids to rows that is meant."""
    if callable(embedding):
        return embedding  # type: ignore[no-any-return]
    return lambda ids: embedding_lookup(embedding, ids)


def drawn(logits: Any, seed: int | None) -> Any:
    """Return an id for each row of `logits` [batch, symbols], drawn by chance."""
    return raw.Squeeze(multinomial(logits, 1, seed=seed, output_dtype="int32"), squeeze_dims=[1])


def _check_logits(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")

"""Helpers made of functions: CustomHelper, and InferenceHelper.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.seq2seq.helpers import Helper
from tfdist.ops.array.shape import shape, size
from tfdist.ops.array.tile_roll import tile

__all__ = ["CustomHelper", "InferenceHelper"]


class CustomHelper(Helper):
    """A helper made of functions.

    Args:
      initialize_fn: returns which sequences have ended, and the first inputs.
      sample_fn: function of `time`, `outputs` and `state`, by these names, to what is said.
      next_inputs_fn: function of `time`, `outputs`, `state` and `sample_ids` to which sequences
        have ended, the next inputs, and the next state.
      sample_ids_shape: of what is said for one sequence; a scalar's by default.
      sample_ids_dtype: of what is said; int32 by default.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or "int32"

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences.

        Raises:
          ValueError: `initialize` has not been called.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """Return the shape of what is said for one sequence."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """Return the type of what is said."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which sequences have ended, and the first inputs."""
        with scopes.name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what the outputs say."""
        with scopes.name_scope(name, "CustomHelperSample", nest.flatten([time, outputs])):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Return which sequences have ended, the next inputs, and the next state."""
        with scopes.name_scope(name, "CustomHelperNextInputs", nest.flatten([time, outputs])):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


class InferenceHelper(Helper):
    """A helper for outputs that are the next inputs, or make them.

    Args:
      sample_fn: from a step's outputs to what is said.
      sample_shape: of what is said for one sequence, as a list of sizes or a TensorShape.
      sample_dtype: of what is said.
      start_inputs: the first inputs [batch, ...].
      end_fn: from what is said to which sequences have ended.
      next_inputs_fn: from what is said to the next inputs; the same by default.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn = sample_fn, end_fn
        self._sample_shape, self._sample_dtype = TensorShape(sample_shape), sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        sizes: Any = shape(self._start_inputs)
        self._batch_size = sizes[0]

    @property
    def batch_size(self) -> Any:
        """Return the number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """Return the shape of what is said for one sequence."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """Return the type of what is said."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which sequences have ended, none of them, and the first inputs."""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what the outputs say."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Return which sequences have ended, the next inputs, and the state."""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state

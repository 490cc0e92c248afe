"""Recurrent layers: a cell, done for each step of a sequence.

Source: TF 1.15 API documentation, tf.keras.layers.RNN and its relatives.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.graph_states import track_variable
from tfdist.keras_impl.backend.rnn_loop import rnn
from tfdist.keras_impl.backend.sessions import batch_set_value
from tfdist.keras_impl.engine.argument_names import told
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.network_config import deserialize
from tfdist.keras_impl.layers.recurrent_cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    initial_states,
)
from tfdist.keras_impl.layers.stacked_cells import StackedRNNCells, call_cell, output_size_of
from tfdist.models.layers import base
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.fill import zeros
from tfdist.ops.variables.variable import Variable

__all__ = ["GRU", "LSTM", "RNN", "SimpleRNN"]

_FLAGS = (
    "return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major",
)  # fmt: skip


class RNN(Layer):
    """A layer that does a cell for each step of a sequence [batch, steps, features].

    Args:
      cell: with `call(inputs, states)` and `state_size`, or a list of them.
      return_sequences: whether the outputs of all steps are returned, not the last one alone.
      return_state: whether the last states are returned as well.
      go_backwards: whether the last step comes first.
      stateful: whether a batch begins with the states in which the one before ended.
      unroll: whether the graph has each step, instead of a loop.
      time_major: whether inputs and outputs are [steps, batch, features].
      **options: those of `Layer`.

    Raises:
      ValueError: the cell has no `call` or no `state_size`.

    Example:
      >>> cell = keras.layers.GRUCell(3)
      >>> keras.layers.RNN(cell, return_sequences=True)(zeros([2, 5, 4])).shape.as_list()
      [2, 5, 3]
    """

    CONFIG = _FLAGS
    supports_masking = True

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **options: Any,
    ) -> None:
        cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        for name in ("call", "state_size"):
            if not hasattr(cell, name):
                raise ValueError(
                    f"`cell` should have a `{name}` {'method' if name == 'call' else 'attribute'}. "
                    f"The RNN was passed: {cell}"
                )
        super().__init__(**options)
        self.cell = cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.time_major = time_major
        self._kept_states: Any = None
        self._constants = 0

    # calling it

    def __call__(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **options: Any
    ) -> Any:
        """Return the outputs for `inputs`, from given states or from zeros."""
        given = [] if initial_state is None else nest.flatten(initial_state)
        more = [] if constants is None else nest.flatten(constants)
        if more:
            self._constants = len(more)
        if given or more:
            inputs = [inputs, *given, *more]
        if isinstance(inputs, list | tuple):
            spec = self.input_spec[0] if isinstance(self.input_spec, list) else self.input_spec
            self.input_spec = [spec] + [None] * (len(inputs) - 1)
            return super().__call__(list(inputs), **options)
        if isinstance(self.input_spec, list):
            self.input_spec = self.input_spec[0]
        return super().__call__(inputs, **options)

    def build(self, input_shape: Any) -> None:
        """Make the cell's variables, and for `stateful` those of the states."""
        first = input_shape[0] if isinstance(input_shape, list | tuple) else input_shape
        sizes = TensorShape(first).as_list()
        batch, features = sizes[1 if self.time_major else 0], sizes[2:]
        if isinstance(self.cell, base.Layer) and not self.cell.built:
            self.cell._dtype = self.cell._dtype or self._cell_dtype()
            self.cell.build(TensorShape([batch, *features]))
            self.cell.built = True
        if self.stateful:
            self._make_states(batch)
        self.built = True

    def _cell_dtype(self) -> Any:
        return None if isinstance(self.cell, StackedRNNCells) else self._dtype

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None,
        constants: Any = None,
    ) -> Any:  # fmt: skip
        """Return the outputs for `inputs`: one tensor, or a list with the states after it."""
        inputs, begin, more = self._parted(inputs)
        mask = nest.flatten(mask)[0] if mask is not None else None
        if begin is None:
            begin = self._kept_states if self.stateful else self._zero_states(inputs)
        size = self.cell.state_size
        if hasattr(self.cell, "reset_masks"):
            self.cell.reset_masks()
        flat = nest.flatten(begin)
        outer = [each.value() if isinstance(each, Variable) else each for each in flat]
        more_options = {"constants": more} if more else {}

        def step(element: Any, states: list[Any]) -> tuple[Any, list[Any]]:
            now = _packed(size, states[: len(flat)])
            output, after = call_cell(self.cell, element, now, training, **more_options)
            return output, nest.flatten(after)

        last, outputs, states = rnn(
            step, inputs, outer, self.go_backwards, mask, unroll=self.unroll,
            time_major=self.time_major,
        )  # fmt: skip
        if self.stateful:
            for variable, value in zip(flat, states, strict=True):
                self.add_update(variable.assign(value))
        found = outputs if self.return_sequences else last
        return [found, *states] if self.return_state else found

    def _parted(self, inputs: Any) -> tuple[Any, Any, list[Any]]:
        """Return inputs, states and constants."""
        if not isinstance(inputs, list | tuple):
            return inputs, None, []
        end = len(inputs) - self._constants
        return inputs[0], list(inputs[1:end]) or None, list(inputs[end:])

    def _zero_states(self, inputs: Any) -> Any:
        if self.time_major:
            inputs = inputs[0][:, None]
        make = getattr(self.cell, "get_initial_state", None)
        if make is None:
            return initial_states(self.cell, inputs)
        return make(inputs=inputs, batch_size=None, dtype=inputs.dtype)

    get_initial_state = _zero_states

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: that of the inputs, if there are all steps."""
        mask = nest.flatten(mask)[0] if mask is not None else None
        kept = mask if self.return_sequences else None
        states = len(nest.flatten(self.cell.state_size)) if self.return_state else 0
        return [kept, *[None] * states] if self.return_state else kept

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the outputs for inputs of a shape."""
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        batch, steps = TensorShape(first).as_list()[:2]
        size = output_size_of(self.cell)
        sizes = [size] if isinstance(size, int) else TensorShape(size).as_list()
        whole = TensorShape([batch, steps, *sizes] if self.return_sequences else [batch, *sizes])
        if not self.return_state:
            return whole
        return [whole, *(TensorShape([batch, each]) for each in nest.flatten(self.cell.state_size))]

    # states that are kept

    @property
    def states(self) -> Any:
        """Return the variables that keep the states; None for each if there are none."""
        if self._kept_states is None:
            return [None for _ in nest.flatten(self.cell.state_size)]
        return self._kept_states

    def _make_states(self, batch: int | None) -> None:
        if batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n- If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to "
                "your Input layer."
            )
        made = []
        for size in nest.flatten(self.cell.state_size):
            sizes = [size] if isinstance(size, int) else TensorShape(size).as_list()
            initial = zeros([batch, *sizes], self._dtype)
            made.append(Variable(initial, trainable=False, use_resource=True))
            track_variable(made[-1])
        self._kept_states = made

    def _found(self) -> Any:
        kept = {id(each) for each in self._kept_states or ()} if "cell" in vars(self) else ()
        return (each for each in super()._found() if id(each) not in kept)

    def reset_states(self, states: Any = None) -> None:
        """Set the states that are kept to zeros, or to these values.

        Raises:
          AttributeError: the layer is not stateful.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if self._kept_states is None:
            return
        values = nest.flatten(states) if states is not None else [
            np.zeros(each.shape.as_list()) for each in self._kept_states]  # fmt: skip
        batch_set_value(zip(self._kept_states, values, strict=True))

    # its settings

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a layer."""
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": cell}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return a layer with these settings."""
        kept = dict(config)
        return cls(deserialize(kept.pop("cell"), custom_objects), **kept)


def _packed(size: Any, states: list[Any]) -> Any:
    """Return states in the structure of a cell's state_size; always in a list."""
    is_nested = isinstance(size, list | tuple) and not isinstance(size, TensorShape)
    return nest.pack_as(list(size), states) if is_nested else states


class OfOneCell(RNN):
    """What layers of one kind of cell share: they take the cell's arguments."""

    kind: Any = None

    def __init__(self, units: int, *arguments: Any, **options: Any) -> None:
        flags = {name: options.pop(name) for name in _FLAGS if name in options}
        own = self._options(options)
        activity = options.pop("activity_regularizer", None)
        found = self._named(arguments)
        cell = self.kind(units, **found, **options)
        super().__init__(cell, **flags, activity_regularizer=activity, **own)
        self.input_spec = InputSpec(ndim=3)

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options that are those of all layers."""
        known = ("name", "trainable", "dtype", "dynamic", "weights", "input_shape",
                 "batch_input_shape", "batch_size", "input_dim", "input_length")  # fmt: skip
        return {key: options.pop(key) for key in known if key in options}

    def _named(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        names = list(inspect.signature(self.kind.__init__).parameters)[2:-1]
        return dict(zip(names, arguments, strict=False))

    def __getattr__(self, name: str) -> Any:
        if name in type(self).kind.CONFIG and "cell" in vars(self):
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a layer."""
        config = Layer.get_config(self)
        of_cell = {key: told(key, getattr(self.cell, key)) for key in self.kind.CONFIG}
        activity = told("activity_regularizer", self.activity_regularizer)
        return {**config, **of_cell, "activity_regularizer": activity}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return a layer with these settings."""
        return cls(**config)


class SimpleRNN(OfOneCell):
    """A recurrent layer of a `SimpleRNNCell`; the arguments are its, and those of `RNN`.

    Example:
      >>> keras.layers.SimpleRNN(3)(zeros([2, 5, 4])).shape.as_list()
      [2, 3]
    """

    kind = SimpleRNNCell


class LSTM(OfOneCell):
    """A recurrent layer of an `LSTMCell`; the arguments are its, and those of `RNN`.

    Example:
      >>> layer = keras.layers.LSTM(3, return_sequences=True, return_state=True)
      >>> [each.shape.as_list() for each in layer(zeros([2, 5, 4]))]
      [[2, 5, 3], [2, 3], [2, 3]]
    """

    kind = LSTMCell


class GRU(OfOneCell):
    """A recurrent layer of a `GRUCell`; the arguments are its, and those of `RNN`.

    Example:
      >>> keras.layers.GRU(3, go_backwards=True)(zeros([2, 5, 4])).shape.as_list()
      [2, 3]
    """

    kind = GRUCell

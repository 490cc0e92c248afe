"""AttentionWrapper: a cell that attends to memories.

Source: TF 1.15 API documentation, tf.contrib.seq2seq.AttentionWrapper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.shapes import compatible, show
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.operation import Tensor
from tfdist.models.layers.core import Dense
from tfdist.models.rnn.rnn_cell import RNNCell, batch_of, beginning_of, check_cell, zeros_of
from tfdist.models.seq2seq.attention import AttentionMechanism
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.reshape import expand_dims, squeeze
from tfdist.ops.checks.assertions import assert_equal
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.matmul import matmul
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["AttentionWrapper", "AttentionWrapperState"]


class AttentionWrapperState(NamedTuple):
    """The state of an `AttentionWrapper`; tuples where it has several mechanisms.

    Attributes:
      cell_state: of the cell inside.
      attention: what was said last.
      time: number of steps so far.
      alignments: of the last step.
      alignment_history: TensorArray of the alignments of all steps; () if they are not kept.
      attention_state: of the mechanisms.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Return the state with some parts replaced, often `cell_state` by that of an encoder.

        Raises:
          ValueError: a tensor has another shape than the one it replaces, or another structure.
        """
        changed = self._replace(**kwargs)
        nest.check_same(self, changed)
        for old, new in zip(nest.flatten(self), nest.flatten(changed), strict=True):
            _check_replaced(old, new)
        return changed


def _check_replaced(old: Any, new: Any) -> None:
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        if not compatible(old.plain_shape, new.plain_shape):
            raise ValueError(
                f"The shape of the AttentionWrapperState is expected to be {show(old.plain_shape)} "
                f"as that of {old.name}, but {new.name} has {show(new.plain_shape)}: is the state "
                "that replaces it of as many examples, tiled as often?"
            )


class AttentionWrapper(RNNCell):
    """A cell that sees what its attention said last, and whose outputs are its attention.

    Args:
      cell: the cell inside.
      attention_mechanism: an `AttentionMechanism`, or a list of them.
      attention_layer_size: size of the layer behind output and context, whose output is the
        attention; without it the context is. A list if there is a list of mechanisms.
      alignment_history: whether the state keeps the alignments of all steps.
      cell_input_fn: from inputs and attention to the cell's inputs; side by side by default.
      output_attention: whether the output is the attention, not that of the cell inside.
      initial_cell_state: what `zero_state` begins with, instead of zeros.
      name: of the cell, and of its variables' scope.
      attention_layer: a layer, or list of them, instead of `attention_layer_size`.
      attention_fn: function of mechanism, cell output, attention state and layer, to attention,
        alignments and next attention state.
      dtype: of the layer.

    Raises:
      TypeError: an argument is no cell, no mechanism, or cannot be called.
      ValueError: there are not as many layers as mechanisms, or sizes and layers both.

    Example:
      >>> attention = contrib.seq2seq.LuongAttention(4, ones([2, 3, 5]))
      >>> cell = contrib.seq2seq.AttentionWrapper(nn.rnn_cell.GRUCell(4), attention, 6)
      >>> output, state = cell(zeros([2, 7]), cell.zero_state(2, "float32"))
      >>> output.shape.as_list(), state.alignments.shape.as_list(), cell.output_size
      ([2, 6], [2, 3], 6)
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        check_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = _listed(attention_mechanism)
        _check_mechanisms(self._attention_mechanisms)
        if not callable(cell_input_fn or _side_by_side):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn)}")
        self._cell, self._cell_input_fn = cell, cell_input_fn or _side_by_side
        self._attention_layers = self._made_layers(attention_layer_size, attention_layer, dtype)
        self._sizes = [
            _size(*pair)
            for pair in zip(self._attention_mechanisms, self._attention_layers, strict=True)
        ]
        self._attention_fn = attention_fn or compute_attention
        self._output_attention, self._alignment_history = output_attention, alignment_history
        with scopes.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = nest.map_leaves(_named, initial_cell_state)

    def _made_layers(self, sizes: Any, layers: Any, dtype: Any) -> list[Any]:
        """Return a layer for each mechanism, None where there is none."""
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        given = _listed(sizes if layers is None else layers)
        if sizes is None and layers is None:
            return [None] * len(self._attention_mechanisms)
        if len(given) != len(self._attention_mechanisms):
            what = "attention_layer_size" if layers is None else "attention_layer"
            raise ValueError(
                f"If provided, {what} must contain exactly one integer or layer per "
                f"attention_mechanism, saw: {len(given)} vs {len(self._attention_mechanisms)}"
            )
        if layers is not None:
            return given
        return [Dense(size, name="attention_layer", use_bias=False, dtype=dtype) for size in given]

    def _item_or_tuple(self, parts: list[Any]) -> Any:
        return tuple(parts) if self._is_multi else parts[0]

    @property
    def output_size(self) -> Any:
        """Return the size of the attention, or of the output of the cell inside."""
        return sum(self._sizes) if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Return the sizes of the state's parts."""
        sizes = [each.alignments_size for each in self._attention_mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=sum(self._sizes),
            time=TensorShape([]),
            alignments=self._item_or_tuple(sizes),
            alignment_history=self._item_or_tuple(
                [s if self._alignment_history else () for s in sizes]
            ),
            attention_state=self._item_or_tuple(
                [each.state_size for each in self._attention_mechanisms]
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """Return the state before the first step.

        Args:
          batch_size: as many as the mechanisms have memories (times the width of beams).
          dtype: of the state.

        Raises:
          InvalidArgumentError: there are not as many memories.
        """
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = beginning_of(self._cell, batch_size, dtype)
            with scopes.control_dependencies(self._checked_zeros(batch_size)):
                cell_state = nest.map_leaves(
                    lambda part: identity(part, name="checked_cell_state"), cell_state
                )
            mechanisms = self._attention_mechanisms
            first = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
            return AttentionWrapperState(  # in the order in which TensorFlow makes the nodes
                cell_state=cell_state,
                time=zeros([], "int32"),
                attention=zeros_of(sum(self._sizes), batch_size, dtype),
                alignments=self._item_or_tuple(first),
                attention_state=self._item_or_tuple(
                    [each.initial_state(batch_size, dtype) for each in mechanisms]
                ),
                alignment_history=self._item_or_tuple(
                    [self._history(part, dtype) for part in first]
                ),
            )

    def _history(self, alignments: Any, dtype: Any) -> Any:
        if not self._alignment_history:
            return ()
        return TensorArray(
            dtype, size=0, dynamic_size=True, element_shape=alignments.plain_shape
        )  # fmt: skip

    def _checked_zeros(self, batch_size: Any) -> list[Any]:
        message = (
            f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch "
            "sizes between the memory (encoder output) and the requested batch size.  Are you "
            "using the BeamSearchDecoder?  If so, make sure your encoder output has been tiled to "
            "beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to "
            "zero_state is batch_size * beam_width."
        )
        return self._batch_size_checks(batch_size, message)

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        checks = [
            assert_equal(batch_size, each.batch_size, message=error_message)
            for each in self._attention_mechanisms
        ]
        return [each for each in checks if each is not None]

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the attention, or the output of the cell inside, and the next state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead; it comes from zero_state."
            )
        cell_output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state
        )
        cell_output = self._checked(cell_output)
        parts = self._parts(cell_output, state)
        attention = concat([each[0] for each in parts], 1)
        after = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            alignments=self._item_or_tuple([each[1] for each in parts]),
            attention_state=self._item_or_tuple([each[2] for each in parts]),
            alignment_history=self._item_or_tuple([each[3] for each in parts]),
        )
        return attention if self._output_attention else cell_output, after

    def _parts(self, cell_output: Any, state: AttentionWrapperState) -> list[Any]:
        """Return attention, alignments, next state and history of each mechanism."""
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = (states,), (histories,)
        made = []
        for number, mechanism in enumerate(self._attention_mechanisms):
            attention, alignments, after = self._attention_fn(
                mechanism, cell_output, states[number], self._attention_layers[number]
            )
            history = histories[number]
            history = history.write(state.time, alignments) if self._alignment_history else ()
            made.append((attention, alignments, after, history))
        return made

    def _checked(self, cell_output: Any) -> Any:
        message = (
            f"When applying AttentionWrapper {self._base_name}: Non-matching batch sizes between "
            "the memory (encoder output) and the query (decoder output).  Are you using the "
            "BeamSearchDecoder?  You may need to tile your memory input via the "
            "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
        )
        with scopes.control_dependencies(self._batch_size_checks(batch_of(cell_output), message)):
            return identity(cell_output, name="checked_cell_output")


def _named(state: Any) -> Any:
    return None if state is None else identity(state, name="check_initial_cell_state")


def _side_by_side(inputs: Any, attention: Any) -> Any:
    return concat([inputs, attention], -1)


def compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """Return attention, alignments and the next state of a mechanism."""
    alignments, after = attention_mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(alignments, 1), attention_mechanism.values), [1])
    if attention_layer is None:
        return context, alignments, after
    return attention_layer(concat([cell_output, context], 1)), alignments, after


def _size(mechanism: Any, layer: Any) -> int:
    """Return the size of what a mechanism with a layer says."""
    size = mechanism.values.plain_shape[-1]
    if layer is None:
        return int(size)
    known = layer.compute_output_shape(TensorShape([None, size]))
    return int(known.as_list()[-1])


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _check_mechanisms(mechanisms: list[Any]) -> None:
    for each in mechanisms:
        if not isinstance(each, AttentionMechanism):
            raise TypeError(
                "attention_mechanism must be an AttentionMechanism or list of multiple "
                f"AttentionMechanism instances, saw type: {type(each).__name__}"
            )

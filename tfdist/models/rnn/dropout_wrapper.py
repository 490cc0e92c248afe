"""DropoutWrapper: a cell with dropout of its inputs, outputs and states.

Source: TF 1.15 API documentation, tf.nn.rnn_cell.DropoutWrapper; Gal and Ghahramani 2015,
arXiv:1512.05287, for dropout that is the same in all steps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.rnn.lstm_cells import LSTMStateTuple
from tfdist.models.rnn.rnn_cell import map_sizes, size_list
from tfdist.models.rnn.wrappers import CellWrapper
from tfdist.ops.array.concat import concat
from tfdist.ops.nn.dropout import dropout
from tfdist.ops.random.random_ops import random_uniform
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = ["DropoutWrapper"]


class DropoutWrapper(CellWrapper):
    """A cell with dropout: some elements become 0, by chance, the others larger.

    Args:
      cell: the cell inside.
      input_keep_prob: chance of an element of the inputs to stay: a float, or a scalar tensor.
      output_keep_prob: the same for outputs.
      state_keep_prob: the same for states that are handed on.
      variational_recurrent: whether the same elements become 0 in all steps.
      input_size: of the inputs, as TensorShapes; needed for inputs if `variational_recurrent`.
      dtype: of inputs, states and outputs; needed if `variational_recurrent`.
      seed: for the choice.
      dropout_state_filter_visitor: function from a state, and each part of it, to a bool, or one
        for each of its parts: whether dropout applies. By default it does, but not to what LSTM
        cells remember (c) and not to TensorArrays.

    Raises:
      TypeError: `cell` is no cell, or the visitor cannot be called.
      ValueError: a chance is not in [0, 1], or something that is needed is missing.

    Example:
      >>> cell = nn.rnn_cell.DropoutWrapper(nn.rnn_cell.GRUCell(2), output_keep_prob=0.5)
      >>> cell(zeros([3, 2]), cell.zero_state(3, "float32"))[0]
      <tf.Tensor 'dropout/mul_1:0' shape=(3, 2) dtype=float32>
    """

    CONFIG = (
        "input_keep_prob", "output_keep_prob", "state_keep_prob", "variational_recurrent",
        "input_size", "seed",
    )  # fmt: skip

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **options)
        visitor = dropout_state_filter_visitor or _all_but_memory
        if not callable(visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._visitor, self._seed = visitor, seed
        self._variational_recurrent, self._input_size = variational_recurrent, input_size
        with scopes.name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _checked("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _checked("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _checked("output_keep_prob", output_keep_prob)
        self._noise: dict[str, list[Tensor]] = {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        """Make what is the same in all steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if _drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            self._noise["input"] = self._random("input", input_size, dtype)
        self._noise["state"] = self._random("state", self.state_size, dtype)
        self._noise["output"] = self._random("output", self.output_size, dtype)

    def _random(self, what: str, sizes: Any, dtype: Any) -> list[Tensor]:
        numbers = count()

        def one(size: Any) -> Tensor:
            seed = self._seed_of(what, next(numbers))
            return random_uniform(concat([[1], size_list(size)], 0), dtype=dtype, seed=seed)

        return nest.flatten(map_sizes(one, sizes))

    def _seed_of(self, what: str, number: int) -> int | None:
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{what}_{number}".encode(), usedforsecurity=False)
        return int(digest.hexdigest()[:8], 16) & 0x7FFFFFFF  # TensorFlow's, by experiment

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output for `inputs` [batch, ...], and the state after `state`."""
        inputs = self._dropped("input", inputs, self._input_keep_prob, _everything)
        output, state = self.cell(inputs, state, scope=scope)
        state = self._dropped("state", state, self._state_keep_prob, self._visitor)
        return self._dropped("output", output, self._output_keep_prob, _everything), state

    def _dropped(self, what: str, values: Any, keep_prob: Any, visitor: Any) -> Any:
        if not _drops(keep_prob):
            return values
        applies = _decisions(visitor, values)
        made = [
            self._one(what, number, value, keep_prob) if next(applies) else value
            for number, value in enumerate(nest.flatten(values))
        ]
        return nest.pack_as(values, made)

    def _one(self, what: str, number: int, value: Any, keep_prob: Any) -> Tensor:
        if not self._noise:
            return dropout(value, keep_prob, seed=self._seed_of(what, number))
        stays = raw.Floor(keep_prob + self._noise[what][number])
        tensor: Tensor = raw.RealDiv(value, keep_prob, name="div") * stays
        tensor.set_shape(value.plain_shape)
        return tensor


def _decisions(visitor: Callable[[Any], Any], values: Any) -> Iterator[bool]:
    """Yield for each leaf whether dropout applies to it."""
    decision = visitor(values)
    if not nest.is_nested(values):
        yield bool(decision)
        return
    parts = decision if nest.is_nested(decision) else [decision] * len(values)
    for part, applies in zip(values, parts, strict=True):
        if applies:
            yield from _decisions(visitor, part)
        else:
            yield from (False for _ in nest.flatten(part))


def _everything(_: Any) -> bool:
    return True


def _all_but_memory(state: Any) -> Any:
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, float) or keep_prob < 1


def _checked(name: str, chance: Any) -> Any:
    """Return a chance as a float if it is known.

    TensorFlow makes a node of each: the number of nodes decides about seeds.
    """
    value = constant_value(convert_to_tensor(chance, "float32"))
    if value is None:
        return chance
    if not 0 <= float(value) <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {float(value):f}")
    return float(value)

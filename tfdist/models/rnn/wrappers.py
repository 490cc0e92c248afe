"""Cells around other cells: several in a row, residual connections, devices.

Source: TF 1.15 API documentation, tf.nn.rnn_cell.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.models.rnn.rnn_cell import RNNCell, check_cell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.slice import slice as slice_
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["DeviceWrapper", "MultiRNNCell", "ResidualWrapper"]

_LOG = logging.getLogger("tensorflow")


class CellWrapper(RNNCell):
    """A cell around another one, with the sizes and variables of that one."""

    def __init__(self, cell: Any, **options: Any) -> None:
        check_cell("cell", cell)
        super().__init__(**options)
        self.cell = cell
        self._variables = getattr(cell, "_variables", [])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such a cell, and in "cell" what tells of that inside."""
        inside = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": inside}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Return a cell with these settings.

        Raises:
          ValueError: "cell" is no cell, but what `get_config` tells of one.
        """
        if isinstance(config.get("cell"), Mapping):
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in "
                "the config with a RNNCell instance."
            )
        return cls(**config)

    @property
    def _cell(self) -> Any:  # its name in earlier versions
        return self.cell

    @property
    def wrapped_cell(self) -> Any:
        """Return the cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """Return the size of the state of the cell inside."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """Return the size of the output of the cell inside."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros of the cell inside; see `RNNCell.zero_state`."""
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)


class ResidualWrapper(CellWrapper):
    """A cell whose inputs are added to the outputs of the cell inside.

    Args:
      cell: the cell inside.
      residual_fn: function of inputs and outputs instead of their sum.

    Example:
      >>> cell = nn.rnn_cell.ResidualWrapper(nn.rnn_cell.GRUCell(2))
      >>> cell(zeros([3, 2]), cell.zero_state(3, "float32"))[0]
      <tf.Tensor 'add:0' shape=(3, 2) dtype=float32>
    """

    def __init__(self, cell: Any, residual_fn: Any = None, **options: Any) -> None:
        super().__init__(cell, **options)
        self._residual_fn = residual_fn or _sums

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output for `inputs` [batch, ...], and the state after `state`."""
        outputs, next_state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), next_state


def _sums(inputs: Any, outputs: Any) -> Any:
    nest.check_same(inputs, outputs)
    pairs = list(zip(nest.flatten(inputs), nest.flatten(outputs), strict=True))
    for given, output in pairs:
        given.get_shape().assert_is_compatible_with(output.get_shape())
    return nest.pack_as(outputs, [given + output for given, output in pairs])


class DeviceWrapper(CellWrapper):
    """A cell that runs on a device.

    Args:
      cell: the cell inside.
      device: its name, or a function, as for `tf.device`.

    Example:
      >>> cell = nn.rnn_cell.DeviceWrapper(nn.rnn_cell.GRUCell(2), "/cpu:0")
      >>> cell(zeros([3, 2]), cell.zero_state(3, "float32"))[0].device
      '/device:CPU:0'
    """

    CONFIG = ("device",)

    def __init__(self, cell: Any, device: Any, **options: Any) -> None:
        super().__init__(cell, **options)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros, made on the device; see `RNNCell.zero_state`."""
        with scopes.device(self._device):
            return super().zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output for `inputs` [batch, ...], and the state after `state`."""
        with scopes.device(self._device):
            return self.cell(inputs, state, scope=scope)


class MultiRNNCell(RNNCell):
    """Several cells, each with the output of the one before as input.

    Args:
      cells: a list of cells; one that is in it twice shares its variables.
      state_is_tuple: whether the state is a tuple of the cells' states, not one tensor.

    Raises:
      TypeError: `cells` is no list, or has something else than cells in it.
      ValueError: there is no cell, or states that are tuples cannot be one tensor.

    Example:
      >>> cell = nn.rnn_cell.MultiRNNCell([nn.rnn_cell.GRUCell(n) for n in (3, 2)])
      >>> output, state = cell(zeros([5, 4]), cell.zero_state(5, "float32"))
      >>> cell.state_size, cell.variables[0].name
      ((3, 2), 'multi_rnn_cell/cell_0/gru_cell/gates/kernel:0')
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True, **options: Any) -> None:
        super().__init__(**options)
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        cells = cells if isinstance(cells, list | tuple) else list(cells)
        for cell in cells:
            check_cell("cell", cell)
        if len({id(cell) for cell in cells}) < len(cells):
            _LOG.warning(
                "At least two cells provided to MultiRNNCell are the same object and will share "
                "weights; make a cell of its own for each layer if they shall not"
            )
        self._cells, self._state_is_tuple = cells, state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {[cell.state_size for cell in cells]}"
            )

    @property
    def state_size(self) -> Any:
        """Return the sizes of the cells' states, added up if they are one tensor."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """Return the size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros; see `RNNCell.zero_state`."""
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if not self._state_is_tuple:
                return super().zero_state(batch_size, dtype)
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the last cell's output, and the next states of all."""
        if self._state_is_tuple and (not nest.is_nested(state) or len(state) != len(self._cells)):
            raise ValueError(
                f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                f"{state}"
            )
        states, position = [], 0
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    own = state[number]
                else:
                    own = slice_(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, own = cell(inputs, own)
            states.append(own)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)

"""Cells of which each gets the output of the one before, and what all cells have in common.

Source: TF 1.15 API documentation, tf.keras.layers.StackedRNNCells.
"""

from __future__ import annotations

import inspect
from typing import Any

from tfdist.base import dtypes, nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.network_config import deserialize
from tfdist.keras_impl.layers.recurrent_cells import initial_states
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers import base
from tfdist.models.layers.base import shape_of_input
from tfdist.models.rnn.rnn_cell import RNNCell

__all__ = ["StackedRNNCells"]


class StackedRNNCells(Layer):
    """Cells of which each gets the output of the one before.

    Args:
      cells: in their order.
      **options: those of `Layer`.

    Example:
      >>> cells = [keras.layers.GRUCell(3), keras.layers.GRUCell(2)]
      >>> keras.layers.StackedRNNCells(cells).state_size
      (3, 2)
    """

    def __init__(self, cells: Any, **options: Any) -> None:
        super().__init__(**options)
        for each in cells:
            if not hasattr(each, "call") or not hasattr(each, "state_size"):
                raise ValueError(
                    "All cells must have a `call` method and a `state_size`. received cells: "
                    f"{cells}"
                )
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        """Return the sizes of all states."""
        return tuple(each.state_size for each in self.cells)

    @property
    def output_size(self) -> Any:
        """Return the size of the last cell's output."""
        return output_size_of(self.cells[-1])

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Return states of zeros for all cells."""
        return [initial_states(each, inputs, batch_size, dtype) for each in self.cells]

    def build(self, input_shape: Any) -> None:
        """Make the variables of all cells."""
        sizes = shape_of_input(input_shape).as_list()
        for cell in self.cells:
            if isinstance(cell, base.Layer) and not cell.built:
                cell._dtype = cell._dtype or self._dtype or dtypes.as_dtype(floatx())
                cell.build(TensorShape(sizes))
                cell.built = True
            size = output_size_of(cell)
            sizes = [sizes[0], *([size] if isinstance(size, int) else TensorShape(size).as_list())]
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None, **options: Any) -> Any:
        """Return the last cell's output for `inputs`, and all next states."""
        output, after = inputs, []
        for cell, state in zip(self.cells, states, strict=True):
            is_one = not isinstance(state, list | tuple)
            output, new = call_cell(cell, output, [state] if is_one else state, training)
            after.append(new[0] if is_one else new)
        return output, after

    def get_config(self) -> dict[str, Any]:
        """Return what makes such cells."""
        cells = [
            {"class_name": type(each).__name__, "config": each.get_config()} for each in self.cells
        ]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return cells with these settings."""
        from_dict = [_deserialized(each, custom_objects) for each in config["cells"]]
        return cls(from_dict, **{key: v for key, v in config.items() if key != "cells"})

    def reset_masks(self) -> None:
        """Forget which inputs are dropped out, for the next sequence."""
        for cell in self.cells:
            if hasattr(cell, "reset_masks"):
                cell.reset_masks()


def _deserialized(config: Any, custom_objects: Any) -> Any:
    return deserialize(config, custom_objects)


def output_size_of(cell: Any) -> Any:
    found = getattr(cell, "output_size", None)
    if found is not None:
        return found
    size = cell.state_size
    return size[0] if isinstance(size, list | tuple) else size


def call_cell(cell: Any, inputs: Any, states: Any, training: Any, **options: Any) -> Any:
    """Return what a cell gives, which is told whether it trains if it asks.

    Cells of tf.nn take states in the structure of `state_size`, those of keras in a list.
    """
    if isinstance(cell, RNNCell):
        output, after = cell(inputs, nest.pack_as(cell.state_size, nest.flatten(states)))
        return output, nest.flatten(after)
    if "training" in inspect.signature(cell.call).parameters:
        options["training"] = training
    return cell.call(inputs, states, **options)

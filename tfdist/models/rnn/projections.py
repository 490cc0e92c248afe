"""Cells with a matrix in front of them, or behind, and the matrix itself.

Source: TF 1.15 API documentation, tf.contrib.rnn.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.rnn.rnn_cell import RNNCell, check_cell
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import random_uniform_initializer, zeros_initializer
from tfdist.ops.variables.variable_scope import get_variable_scope

__all__ = ["EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper"]


def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:
    """Return tensors side by side times the variable "kernel", plus "bias" if there is one.

    Programs import it, underscore and all.

    Args:
      args: a tensor [batch, size], or a list of them.
      output_size: size of the result.
      bias: whether there is one.
      bias_initializer: zeros by default.
      kernel_initializer: the scope's by default.

    Raises:
      ValueError: nothing is given, or a size is unknown.
    """
    given = list(args) if isinstance(args, list | tuple) else [args]
    if args is None or not given:
        raise ValueError("`args` must be specified")
    tensors = [convert_to_tensor(each) for each in given]
    sizes = [tensor.plain_shape and tensor.plain_shape[-1] for tensor in tensors]
    if None in sizes:
        raise ValueError(f"linear expects shape[1] to be provided for shapes {tensors}")
    kernel = get_variable(
        "kernel", [sum(sizes), output_size], tensors[0].dtype.base_dtype, kernel_initializer
    )
    product = raw.MatMul(concat(tensors, 1) if len(tensors) > 1 else tensors[0], kernel)
    if not bias:
        return product
    initializer = bias_initializer or zeros_initializer()
    return bias_add(product, get_variable("bias", [output_size], kernel.dtype, initializer))


_linear = linear  # by this name programs import it from tf.contrib.rnn


class _Around(RNNCell):
    """A cell around another one, with a variable scope of its own."""

    def __init__(self, cell: Any, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """Return the size of the state of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """Return the size of the output of the cell inside."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros of the cell inside; see `RNNCell.zero_state`."""
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """A cell whose inputs are projected first.

    Args:
      cell: the cell inside.
      num_proj: size of the projected inputs.
      activation: function of the projected inputs; None for none.
      input_size: not used any more.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.InputProjectionWrapper(nn.rnn_cell.GRUCell(3), 5)
      >>> _ = cell(zeros([2, 4]), cell.zero_state(2, "float32"))
      >>> cell.variables[0].name, cell.variables[0].shape.as_list()
      ('input_projection_wrapper/kernel:0', [4, 5])
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Any = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output of the cell inside, and its next state."""
        projected = linear(inputs, self._num_proj, True)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """A cell whose outputs are projected.

    Args:
      cell: the cell inside.
      output_size: size of the projected outputs.
      activation: function of the projected outputs; None for none.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.OutputProjectionWrapper(nn.rnn_cell.GRUCell(3), 5)
      >>> cell(zeros([2, 4]), cell.zero_state(2, "float32"))[0].shape.as_list()
      [2, 5]
    """

    def __init__(
        self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        """Return the size of the projected outputs."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the projected output of the cell inside, and its next state."""
        output, state = self._cell(inputs, state)
        projected = linear(output, self._output_size, True)
        return self._activation(projected) if self._activation else projected, state


class EmbeddingWrapper(_Around):
    """A cell that takes numbers, and gives the rows of a matrix to the cell inside.

    Args:
      cell: the cell inside.
      embedding_classes: number of rows.
      embedding_size: size of a row.
      initializer: of the matrix; the scope's by default, or uniform numbers of variance 1.
      reuse: whether to find variables that exist.

    Example:
      >>> cell = contrib.rnn.EmbeddingWrapper(nn.rnn_cell.GRUCell(3), 7, 5)
      >>> cell(constant([6, 0]), cell.zero_state(2, "float32"))[0].shape.as_list()
      [2, 3]
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._sizes, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Return the output of the cell inside, and its next state."""
        bound = math.sqrt(3)
        default = random_uniform_initializer(-bound, bound)
        initializer = self._initializer or get_variable_scope().initializer or default
        first = state[0] if isinstance(state, tuple) else state
        embedding = get_variable("embedding", self._sizes, first.dtype, initializer)
        return self._cell(embedding_lookup(embedding, reshape(inputs, [-1])), state)

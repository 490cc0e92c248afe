"""RNNCell: what takes an input and a state, and returns an output and the next state.

Source: TF 1.15 API documentation, tf.nn.rnn_cell.RNNCell.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.operation import Tensor
from tfdist.models.layers.base import Layer
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.nn import functions
from tfdist.ops.variables.partitioned_variables import PartitionedVariable
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = ["LayerRNNCell", "RNNCell"]

# What a cell must have, and dynamic_rnn and its relatives look for; and one of two that say where
# it begins: cells of keras have the latter only.
_NEEDED = ("output_size", "state_size")
_BEGINNINGS = ("zero_state", "get_initial_state")


class RNNCell(Layer):
    """What all cells of recurrent networks are.

    A subclass has the properties `state_size` and `output_size` and either `call`, or its own
    `__call__(inputs, state, scope=None)`; both return (output, next state). Variables come from
    `tf.get_variable`, or from `add_weight` in `build`.

    Args:
      trainable: whether its variables are trained.
      name: of the cell, and of its variables' scope.
      dtype: of its variables; that of the first input by default.

    Example:
      >>> class Sum(nn.rnn_cell.RNNCell):
      ...     state_size = output_size = 2
      ...
      ...     def call(self, inputs, state):
      ...         return inputs + state, inputs + state
      >>> output, _ = nn.dynamic_rnn(Sum(), ones([1, 3, 2]), dtype="float32")
      >>> Session().run(output[0, -1])
      array([3., 3.], dtype=float32)
    """

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, **options: Any
    ) -> None:
        super().__init__(trainable, name, dtype, **options)

    @property
    def state_size(self) -> Any:
        """Return the size of the state: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its state_size")

    @property
    def output_size(self) -> Any:
        """Return the size of the output: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its output_size")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """Return the output for `inputs` [batch, ...], and the state after `state`."""
        return super().__call__(inputs, state, scope=scope)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Return a state of zeros for `inputs`, or for a number of examples of a type.

        Raises:
          ValueError: neither is known.
        """
        if inputs is not None:
            batch_size, dtype = batch_of(inputs), inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype must not be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros, in the structure of `state_size`.

        Args:
          batch_size: an int, or a scalar tensor.
          dtype: of the state.
        """
        with scopes.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zeros_of(self.state_size, batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        """Return arguments that make such a cell, those that all have at least."""
        return super().get_config()

    def _find_scope(self, scope: Any = None) -> None:
        around = get_variable_scope()
        with variable_scope(around) if around.name else nullcontext():
            super()._find_scope(scope)

    def _entered(self) -> Any:
        """Return the context in which it is called: it keeps the variables that `call` gets."""
        self._find_scope()
        reuse = True if self.built else self._reuse
        return variable_scope(
            self._scope, reuse=reuse, auxiliary_name_scope=False, custom_getter=self._keep
        )

    def _keep(self, getter: Any, *arguments: Any, **options: Any) -> Any:
        variable = getter(*arguments, **options)
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            if not any(part is kept for kept in self._variables):
                self._variables.append(part)
        return variable


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, once, and can then be used anywhere."""

    def _find_scope(self, scope: Any = None) -> None:
        Layer._find_scope(self, scope)

    def _entered(self) -> Any:
        return Layer._entered(self)

    def _inputs(self, input_shape: Any) -> int:
        """Return the size of inputs, for `build`, and note that they are matrices.

        Raises:
          ValueError: the size is unknown.
        """
        known = TensorShape(input_shape).as_list()
        if known[-1] is None:
            raise ValueError(
                f"Expected inputs.shape[-1] to be known, saw shape: {TensorShape(input_shape)}"
            )
        self.input_spec = InputSpec(ndim=2)
        return int(known[-1])


def activation_of(given: Any) -> Any:
    """Return the function that is meant: tanh for None, that of `tf.nn` for a name."""
    if not isinstance(given, str):
        return given or functions.tanh
    if given == "linear":
        return lambda x: x
    if not hasattr(functions, given):
        raise ValueError(f"Unknown activation function: {given}")
    return getattr(functions, given)


def zeros_of(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros [batch_size, *size] for each of a structure of sizes."""

    def one(size: Any) -> Tensor:
        made = zeros_once(size, batch_size, dtype)
        # TensorFlow makes these again; the number of nodes decides about seeds
        _dims(batch_size, size_list(size))
        return made

    return map_sizes(one, sizes)


def zeros_once(size: Any, batch_size: Any, dtype: Any) -> Tensor:
    """Return zeros [batch_size, *size]."""
    plain = size_list(size)
    made = zeros(concat(_dims(batch_size, plain), 0), dtype)
    known = [batch_size, *([plain] if isinstance(plain, Tensor) else plain)]
    made.set_shape([None if isinstance(dim, Tensor) else dim for dim in known])
    return made


def _dims(batch_size: Any, size: Any) -> list[Tensor]:
    """Return the parts of a shape as tensors [axes]."""
    known = not isinstance(batch_size, Tensor)
    first = constant([int(batch_size)], "int32") if known else expand_dims(batch_size, 0)
    return [first, expand_dims(size, 0) if isinstance(size, Tensor) else constant(size, "int32")]


def map_sizes(function: Any, sizes: Any) -> Any:
    """Return `function` of each size in a structure; a TensorShape is one size."""
    if isinstance(sizes, TensorShape) or not nest.is_nested(sizes):
        return function(sizes)
    made = [map_sizes(function, size) for size in sizes]
    return type(sizes)(*made) if hasattr(sizes, "_fields") else type(sizes)(made)


def size_list(size: Any) -> Any:
    """Return the sizes of axes of a size of a cell, which is often an int; a tensor as it is."""
    if isinstance(size, Tensor):
        return size
    return size.as_list() if isinstance(size, TensorShape) else [int(size)]


def batch_of(tensor: Any, axis: int = 0) -> Any:
    """Return the size of an axis: an int if it is known, a tensor otherwise."""
    known = tensor.plain_shape
    if known is not None and known[axis] is not None:
        return known[axis]
    sizes: Any = shape(tensor)
    return sizes[axis]


def check_cell(what: str, cell: Any) -> None:
    """Raise TypeError unless `cell`, the argument `what`, has all that a cell must have."""
    missing = [name for name in _NEEDED if not _has(cell, name)]
    wrong = [f"'{name}' property is missing" for name in missing]
    if not any(_has(cell, name) for name in _BEGINNINGS):
        wrong.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        wrong.append("is not callable")
    if wrong:
        raise TypeError(f"The argument {what!r} ({cell}) is not an RNNCell: {', '.join(wrong)}.")


def beginning_of(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """Return the state in which a cell begins."""
    make = getattr(cell, "get_initial_state", None)
    if make is None:
        return cell.zero_state(batch_size, dtype)
    return make(inputs=None, batch_size=batch_size, dtype=dtype)


def step_of(cell: Any, inputs: Any, state: Any) -> Any:
    """Return output and next state; cells of keras take and return a single state in a list."""
    is_of_keras = isinstance(cell, Layer) and not isinstance(cell, RNNCell)
    if not is_of_keras or nest.is_nested(state):
        return cell(inputs, state)
    output, after = cell(inputs, [state])
    return output, after[0] if nest.is_nested(after) and len(after) == 1 else after


def _has(cell: Any, name: str) -> bool:
    try:
        return hasattr(cell, name)
    except NotImplementedError:  # the property is there
        return True

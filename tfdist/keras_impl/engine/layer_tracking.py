"""What a layer holds: variables, other layers, losses and updates; and what it was called on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.keras_impl.backend.sessions import batch_get_value, batch_set_value
from tfdist.keras_impl.engine.nodes import reached_from
from tfdist.ops.variables.variable import Variable


class Holdings:
    """The part of `Layer` about its variables, losses, updates, inputs and outputs.

    Layers and variables that are its attributes, or in lists and dicts that are, belong to it.
    """

    is_tracked = True  # whether a layer that has it as an attribute holds it
    _name: str
    built: bool
    inbound_nodes: list[Any]

    def _hold_nothing(self) -> None:
        self._trained: list[Any] = []
        self._kept: list[Any] = []
        self._later_losses: list[Callable[[], Any]] = []
        self._own_losses: list[Any] = []
        self._own_updates: list[Any] = []
        self._free_updates: list[Any] = []

    def _hold(self, variable: Any, trained: bool, regularizer: Any) -> None:
        (self._trained if trained else self._kept).append(variable)
        if regularizer is not None:
            self._later_losses.append(lambda: _regularized(variable, regularizer))

    def _found(self) -> Iterator[Any]:
        """Yield all that the attributes hold."""
        for name, value in vars(self).items():
            if name not in _SKIPPED:
                yield from (value,) if not nest.is_nested(value) else _leaves(value)

    def _sublayers(self) -> list[Any]:
        """Return the layers it holds."""
        found = [each for each in self._found() if isinstance(each, Holdings) and each.is_tracked]
        return unique(found)

    def _own_variables(self) -> tuple[list[Any], list[Any]]:
        """Return its own variables: those that are trained, and the others."""
        trained, kept = list(self._trained), list(self._kept)
        held = {id(each) for each in trained + kept}
        for each in self._found():
            if isinstance(each, Variable) and id(each) not in held:
                held.add(id(each))
                (trained if each.trainable else kept).append(each)
        return trained, kept

    # variables

    @property
    def trainable(self) -> bool:
        """Return whether its variables are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._sublayers():
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """Return the variables that are trained."""
        if not self.trainable:
            return []
        nested = [each for layer in self._sublayers() for each in layer.trainable_weights]
        return unique(self._own_variables()[0] + nested)

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Return the variables that are not trained."""
        trained, kept = self._own_variables()
        nested = [each for layer in self._sublayers() for each in layer.non_trainable_weights]
        return unique(kept + nested if self.trainable else trained + kept + nested)

    @property
    def weights(self) -> list[Any]:
        """Return its variables: those that are trained, then the others."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """Return its variables: those that are trained, then the others."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """Return the variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Return the variables that are not trained."""
        return self.non_trainable_weights

    def get_weights(self) -> list[Any]:
        """Return the values of its variables, as arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Give its variables values.

        Args:
          weights: an array for each, in the order of `weights`.

        Raises:
          ValueError: there are more or fewer, or one has another shape.
        """
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self._name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            wanted, shape = tuple(variable.shape.as_list()), np.shape(value)
            if wanted != shape:
                raise ValueError(
                    f"Layer weight shape {wanted} not compatible with provided weight shape {shape}"
                )
        batch_set_value(zip(variables, weights, strict=True))

    def count_params(self) -> int:
        """Return the number of elements of all its variables.

        Raises:
          ValueError: it is not built.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self._name}, but the layer isn't built. "
                f"You can build it manually via: `{self._name}.build(batch_input_shape)`."
            )
        return sum(each.shape.num_elements() for each in self.weights)

    # losses and updates

    @property
    def losses(self) -> list[Any]:
        """Return the losses that were added, and those of regularizers; each time anew."""
        found = self._own_losses + self._regularizations()
        return found + [each for layer in self._sublayers() for each in layer.losses]

    def _regularizations(self) -> list[Any]:
        found = [each() for each in self._later_losses]
        return [each for each in found if each is not None]

    @property
    def updates(self) -> list[Any]:
        """Return the operations that were added, to be run beside training."""
        if not self.trainable:
            return []
        nested = [each for layer in self._sublayers() for each in layer.updates]
        return unique(self._own_updates + self._free_updates + nested)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add a loss, or a list of them; a function is asked for it each time."""
        for each in losses if isinstance(losses, list | tuple) else [losses]:
            (self._later_losses if callable(each) else self._own_losses).append(each)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add an operation, or a list of them, that runs beside training."""
        for each in updates if isinstance(updates, list | tuple) else [updates]:
            made = each() if callable(each) else each
            if isinstance(made, tuple):
                made = made[0].assign(made[1])
            self._own_updates.append(getattr(made, "op", made))

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Return the losses that depend on `inputs`; None for those of no inputs."""
        return self._for(self.losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Return the updates that depend on `inputs`; None for those of no inputs."""
        return self._for(self.updates, inputs)

    def _for(self, found: list[Any], inputs: Any) -> list[Any]:
        given = nest.flatten(inputs) if inputs is not None else self._all_inputs()
        reached = reached_from(given)
        return [each for each in found if (_op(each) in reached) is (inputs is not None)]

    def _all_inputs(self) -> list[Any]:
        calls = [tensor for node in self.inbound_nodes for tensor in nest.flatten(node.inputs)]
        return calls + [each for layer in self._sublayers() for each in layer._all_inputs()]

    # what it was called on

    def _of_node(self, index: int, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not -len(self.inbound_nodes) <= index < len(self.inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only "
                f"{len(self.inbound_nodes)} inbound nodes."
            )
        found = getattr(self.inbound_nodes[index], attribute)
        flat = nest.flatten(found)
        return flat[0] if len(flat) == 1 else found

    @property
    def input(self) -> Any:
        """Return the tensor, or tensors, that it was first called on."""
        if not self.inbound_nodes:
            raise AttributeError(f"Layer {self._name} is not connected, no input to return.")
        return self._of_node(0, "inputs", "input")

    @property
    def output(self) -> Any:
        """Return the tensor, or tensors, that its first call gave."""
        if not self.inbound_nodes:
            raise AttributeError(f"Layer {self._name} has no inbound nodes.")
        return self._of_node(0, "outputs", "output")

    @property
    def input_shape(self) -> Any:
        """Return the shape of what it was called on: a tuple, or a list of them."""
        return self._one_shape("inputs", "input")

    @property
    def output_shape(self) -> Any:
        """Return the shape of what it gave: a tuple, or a list of them."""
        return self._one_shape("outputs", "output")

    def _one_shape(self, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what} shape."
            )
        found = [shapes_of(getattr(node, attribute)) for node in self.inbound_nodes]
        if any(each != found[0] for each in found):
            raise AttributeError(
                f'The layer "{self._name}" has multiple inbound nodes, with different {what} '
                f"shapes. Use `get_{what}_shape_at(node_index)` instead."
            )
        return found[0]

    def get_input_at(self, node_index: int) -> Any:
        """Return the tensor, or tensors, of one of its calls."""
        return self._of_node(node_index, "inputs", "input")

    def get_output_at(self, node_index: int) -> Any:
        """Return what one of its calls gave."""
        return self._of_node(node_index, "outputs", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Return the shape of what one of its calls was on."""
        return shapes_of(self._of_node(node_index, "inputs", "input_shape"))

    def get_output_shape_at(self, node_index: int) -> Any:
        """Return the shape of what one of its calls gave."""
        return shapes_of(self._of_node(node_index, "outputs", "output_shape"))


# attributes that hold what the layer does not
_SKIPPED = frozenset({"_trained", "_kept", "inbound_nodes", "outbound_nodes", "_own_losses",
                      "_own_updates", "_free_updates", "_later_losses"})  # fmt: skip


def _leaves(value: Any) -> Iterator[Any]:
    for each in value.values() if hasattr(value, "values") else value:
        if nest.is_nested(each):
            yield from _leaves(each)
        else:
            yield each


def unique(found: Iterable[Any]) -> list[Any]:
    return list({id(each): each for each in found}.values())


def _regularized(variable: Any, regularizer: Any) -> Any:
    with scopes.name_scope(f"{variable.op.name}/Regularizer"):
        return regularizer(variable)


def _op(made: Any) -> Any:
    return getattr(made, "op", made)


def shapes_of(tensors: Any) -> Any:
    """Return a tensor's shape as a tuple; of a list, a list of them."""
    found = [tuple(each.get_shape().as_list()) for each in nest.flatten(tensors)]
    return found if nest.is_nested(tensors) else found[0]

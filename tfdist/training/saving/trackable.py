"""Objects that refer to each other and to variables, as object-based checkpoints see them.

From a root, every object gets a number, breadth first, and a path: the names that lead to it. What
an optimizer keeps for a variable comes last, under the paths of both. A tensor's key in the
checkpoint is its object's path and its own name.

Source: TF 1.15 API documentation, tf.train.Checkpoint; names and numbers found by writing files.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, NamedTuple

from tfdist.ops.lookup.initializers import TableInitializerBase
from tfdist.ops.lookup.interface import LookupInterface
from tfdist.ops.lookup.static_tables import InitializableLookupTableBase
from tfdist.ops.variables.variable import Variable
from tfdist.protos import pb
from tfdist.training.saving.checkpointed_tables import is_table

__all__ = ["PythonState"]

VALUE, STATE, TABLE = "VARIABLE_VALUE", "py_state", "table"


class Trackable:
    """An object whose attributes a checkpoint holds: those that are variables, or refer to some."""


class SlotOwner:
    """An optimizer, as checkpoints see it: it keeps slots, variables that belong to others."""

    _non_slot_dict: dict[Any, Any]  # (name, graph) -> variable

    def get_slot_names(self) -> list[str]:
        """Return the names of the slots, in alphabetical order."""
        raise NotImplementedError

    def get_slot(self, var: Any, name: str) -> Any:
        """Return the variable that is kept beside `var` as `name`; None if there is none."""
        raise NotImplementedError


class PythonState(Trackable, abc.ABC):
    """Something of Python's own that a checkpoint keeps as a string: to be subclassed.

    Example:
      >>> import tempfile
      >>> class Epoch(train.experimental.PythonState):
      ...     number = 3
      ...
      ...     def serialize(self):
      ...         return str(self.number)
      ...
      ...     def deserialize(self, string_value):
      ...         self.number = int(string_value)
      >>> epoch = Epoch()
      >>> checkpoint = train.Checkpoint(epoch=epoch)
      >>> with Session():
      ...     path = checkpoint.save(f"{tempfile.mkdtemp()}/model")
      >>> epoch.number = 7
      >>> status = checkpoint.restore(path)
      >>> epoch.number
      3
    """

    @abc.abstractmethod
    def serialize(self) -> Any:
        """Return a string or bytes that tell the state."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Take the state that `serialize` has told."""


class Node(NamedTuple):
    """An object in its place.

    Attributes:
      value: the object.
      path: names that lead to it, each escaped.
      children: numbers of other objects by local name.
    """

    value: Any
    path: str
    children: dict[str, int]


class Slot(NamedTuple):
    """What an optimizer keeps: numbers of the optimizer, the variable and the slot; its name."""

    optimizer: int
    variable: int
    name: str
    slot: int


class ObjectGraph(NamedTuple):
    """All objects that are reached from a root, and the optimizers' slots among them."""

    nodes: list[Node]
    slots: list[Slot]

    def tensors(self) -> Iterator[tuple[int, str, str, Any]]:
        """Yield (number, name, key, object) of all that has a state."""
        for number, node in enumerate(self.nodes):
            name = state_name(node.value)
            if name:
                yield number, name, f"{node.path}/.ATTRIBUTES/{name}".lstrip("/"), node.value

    def to_proto(self) -> Any:
        """Return the message that a checkpoint has."""
        proto = pb.TrackableObjectGraph()
        for node in self.nodes:
            told = proto.nodes.add()
            for name, number in node.children.items():
                told.children.add(node_id=number, local_name=name)
        for number, name, key, value in self.tensors():
            full_name = value.op.name if isinstance(value, Variable) else ""
            proto.nodes[number].attributes.add(name=name, full_name=full_name, checkpoint_key=key)
        for slot in self.slots:
            proto.nodes[slot.optimizer].slot_variables.add(
                original_variable_node_id=slot.variable, slot_name=slot.name,
                slot_variable_node_id=slot.slot,
            )  # fmt: skip
        return proto


def state_name(value: Any) -> str:
    """Return what the state of an object is called; "" if it has none."""
    if isinstance(value, Variable):
        return VALUE
    if is_table(value):
        return TABLE
    return STATE if isinstance(value, PythonState) else ""


def objects_of(root: Any) -> ObjectGraph:
    """Return what is reached from an object."""
    nodes, numbers = [Node(root, "", {})], {id(root): 0}
    for node in nodes:  # which grows
        for name, child in children_of(node.value).items():
            if id(child) not in numbers:
                numbers[id(child)] = len(nodes)
                nodes.append(Node(child, f"{node.path}/{_escaped(name)}".lstrip("/"), {}))
            node.children[name] = numbers[id(child)]
    return ObjectGraph(nodes, list(_slots(nodes)))


def _slots(nodes: list[Node]) -> Iterator[Slot]:
    """Yield the slots, after adding their variables to the nodes."""
    count = len(nodes)
    for index in range(count):
        optimizer = nodes[index].value
        if not isinstance(optimizer, SlotOwner):
            continue
        for name in optimizer.get_slot_names():
            for number in range(count):
                variable = nodes[number].value
                slot = isinstance(variable, Variable) and optimizer.get_slot(variable, name)
                if isinstance(slot, Variable):
                    path = f"{nodes[number].path}/.OPTIMIZER_SLOT/{nodes[index].path}"
                    yield Slot(index, number, name, len(nodes))
                    nodes.append(Node(slot, f"{path}/{_escaped(name)}", {}))


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


# what an object refers to

_TRACKABLE = (Variable, SlotOwner, Trackable, LookupInterface, TableInitializerBase)


def is_trackable(value: Any) -> bool:
    """Return whether an object may stand in a checkpoint: layers and modules do."""
    return isinstance(value, _TRACKABLE) or _is_layer(value) or _is_module(value)


def _is_module(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "_no_dependency")


def _is_layer(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "add_weight")


def children_of(value: Any) -> dict[str, Any]:
    """Return the objects that one refers to, by local name.

    Raises:
      ValueError: a dict has a key that is no string.
    """
    if isinstance(value, Variable | PythonState | TableInitializerBase):
        return {}
    if isinstance(value, InitializableLookupTableBase):
        return {"_initializer": value._initializer}
    if isinstance(value, LookupInterface):
        return {}  # of a vocabulary's table nothing is told
    if isinstance(value, SlotOwner):
        return _own_variables(value)
    if isinstance(value, list):
        return {str(index): each for index, each in enumerate(value) if _has_state(each)}
    if isinstance(value, dict):
        return _entries(value)
    return (_weights(value) if _is_layer(value) else {}) | _attributes(value)


def _has_state(value: Any) -> bool:
    return is_trackable(value) or isinstance(value, list | dict)


def _entries(given: dict[Any, Any]) -> dict[str, Any]:
    found = {key: each for key, each in given.items() if _has_state(each)}
    odd = [key for key in found if not isinstance(key, str)]
    if odd:
        raise ValueError(
            f"Unable to save the object {given}: the dictionary contains a non-string key "
            f"({odd[0]!r}) which maps to a trackable object or mutable data structure."
        )
    return found


def _own_variables(optimizer: SlotOwner) -> dict[str, Any]:
    """Return the variables of an optimizer that are no slots, in the order of their names."""
    own = {
        name: variable
        for (name, _), variable in optimizer._non_slot_dict.items()
        if isinstance(variable, Variable)
    }
    return dict(sorted(own.items()))


def _weights(layer: Any) -> dict[str, Any]:
    """Return the variables of a layer, as they are named within it; those of cells are theirs."""
    own = [each for each in getattr(layer, "weights", ()) if isinstance(each, Variable)]
    if not own or hasattr(layer, "_cells"):
        return {}
    prefix = f"{layer.scope_name}/" if hasattr(layer, "scope_name") else ""
    return {each.op.name.removeprefix(prefix): each for each in own}


def _attributes(value: Any) -> dict[str, Any]:
    """Return what stands in attributes; a layer's weights stand there under their own names."""
    found: dict[str, Any] = {}
    known = {id(each) for each in _weights(value).values()} if _is_layer(value) else set()
    for name, each in vars(value).items():
        if name in getattr(value, "_left_out", ()):
            continue
        if name == "_cells":
            found |= {f"cell-{index}": cell for index, cell in enumerate(each)}
        elif id(each) in known or (_is_layer(value) and name.startswith("_")):
            continue
        elif is_trackable(each) or (isinstance(each, list | dict) and not _is_layer(value)):
            found[name] = each
    return found

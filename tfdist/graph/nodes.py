"""The nodes of a graph: in the order they were made, and found by name."""

from __future__ import annotations

import threading
from typing import Any

from tfdist.base import names
from tfdist.base.aliases import TensorLike
from tfdist.graph.operation import Operation, Tensor


class Nodes:
    """Operations, none twice and none lost; `Graph` says what surrounds new ones."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._not_feedable: set[Any] = set()
        self._not_fetchable: set[Any] = set()
        self._lock = threading.RLock()
        self.finalized = False

    def add(self, op: Operation) -> None:
        """Append a complete node.

        Raises:
          RuntimeError: the graph is finalized.
          ValueError: there is a node of that name.
        """
        if self.finalized:
            raise RuntimeError(
                f"Graph is finalized and cannot be modified: {op.name!r} cannot be added; make all "
                "nodes before the graph is finalized, or others in a new tf.Graph()"
            )
        with self._lock:
            if self._by_name.setdefault(op.name, op) is not op:
                raise ValueError(f"the graph has a node {op.name!r} already")
            self._operations.append(op)
            op._id = len(self._operations)

    def finalize(self) -> None:
        """Make adding nodes an error from now on."""
        self.finalized = True

    def _unsafe_unfinalize(self) -> None:
        self.finalized = False

    # TensorFlow's names of what is inside, which programs read

    @property
    def _nodes_by_name(self) -> dict[str, Operation]:
        return dict(self._by_name)

    @property
    def _nodes_by_id(self) -> dict[int, Operation]:
        return {op._id: op for op in self._operations}

    @property
    def _last_id(self) -> int:
        return len(self._operations)

    def prevent_feeding(self, tensor: TensorLike) -> None:
        """Make feeding `tensor` an error."""
        self._not_feedable.add(tensor)

    def is_feedable(self, tensor: TensorLike) -> bool:
        """Return whether `tensor` may be fed."""
        return tensor not in self._not_feedable

    def prevent_fetching(self, op: TensorLike) -> None:
        """Make fetching an operation, its outputs too, or a tensor an error."""
        self._not_fetchable.add(op)

    def is_fetchable(self, tensor_or_op: TensorLike) -> bool:
        """Return whether a tensor or operation may be fetched."""
        hidden = self._not_fetchable
        op = getattr(tensor_or_op, "op", tensor_or_op)
        return tensor_or_op not in hidden and op not in hidden

    @property
    def version(self) -> int:
        """Return a number that grows with every node."""
        return len(self._operations)

    def get_operations(self) -> list[Operation]:
        """Return all operations in the order they were made."""
        return list(self._operations)

    def operations_since(self, version: int) -> list[Operation]:
        """Return the operations made after `version`."""
        return self._operations[version:]

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation `name`; KeyError naming similar ones, ValueError for "node:0"."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings, not {type(name).__name__}")
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        try:
            return self._by_name[name]
        except KeyError:
            said = f"The name {name!r} refers to an Operation not in the graph"
            raise KeyError(said + self._near(name)) from None

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor "NODE:INDEX"; KeyError or ValueError saying what there is."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings, not {type(name).__name__}")
        if ":" not in name:
            is_one = name in self._by_name
            said = "refers to an Operation" if is_one else "looks like an (invalid) Operation name"
            raise ValueError(
                f"The name {name!r} {said}, not a Tensor. Tensor names must be of the form "
                f'"<op_name>:<output_index>": the first output is {name + ":0"!r}'
            )
        node, index = names.split_tensor_name(name)
        op = self._by_name.get(node)
        said = (
            f"The name {name!r} refers to a Tensor which does not exist. The operation, {node!r},"
        )
        if op is None:
            raise KeyError(f"{said} does not exist in the graph{self._near(node)}")
        if index >= len(op.outputs):
            raise KeyError(f"{said} exists but only has {len(op.outputs)} outputs.")
        return op.outputs[index]

    def _near(self, name: str) -> str:
        import difflib  # only for who has mistyped something

        near = difflib.get_close_matches(name, self._by_name, 3)
        hint = f", near it are {', '.join(near)}" if near else ""
        return f". It has {len(self._by_name)} operations{hint}."

    def as_graph_element(
        self, obj: TensorLike, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        """Return the Tensor or Operation of this graph that `obj` is or names.

        Args:
          obj: a Tensor, an Operation, a name, or an object such as a Variable.
          allow_tensor: whether a Tensor is wanted.
          allow_operation: whether an Operation is wanted.

        Raises:
          TypeError: it is none of these.
          ValueError: it belongs to another graph, or the name is malformed.
          KeyError: nothing has this name.
        """
        element = obj._as_graph_element() if hasattr(obj, "_as_graph_element") else obj
        if isinstance(element, bytes):
            element = element.decode()
        if isinstance(element, str):
            tensor = ":" in element or not allow_operation
            if tensor and not allow_tensor:
                raise ValueError(f"Name {element!r} appears to refer to a Tensor, not a Operation.")
            return (self.get_tensor_by_name if tensor else self.get_operation_by_name)(element)
        wanted = (Tensor,) * allow_tensor + (Operation,) * allow_operation
        if not isinstance(element, wanted):
            kinds = " or ".join(cls.__name__ for cls in wanted)
            raise TypeError(
                f"Can not convert a {type(element).__name__} into a {kinds}: {element!r}"
            )
        if element.graph is not self:
            kind = "Tensor" if isinstance(element, Tensor) else "Operation"
            raise ValueError(
                f"{kind} {element!r} is not an element of this graph. Make it inside "
                "of `with graph.as_default():`, or run it in tf.Session(graph=...) of its own"
            )
        return element

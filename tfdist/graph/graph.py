"""Graph: operations in the order they were made, their names, collections and open scopes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from tfdist.base import devices, lazy, names
from tfdist.base.aliases import Collected, OwnContext, TensorLike
from tfdist.graph.functions import CallOp, Function, Library, is_same
from tfdist.graph.op_def import REGISTRY, OpDef, lookup
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.stacks import default_graph
from tfdist.protos import pb

# What makes messages stands above this file.
_graph_to_proto = lazy.function("tfdist.graph.graph_def", "graph_to_proto")
_versions = lazy.function("tfdist.graph.graph_def", "versions")

DeviceScope = str | Callable[[Operation], Any] | None


class _ThreadState(threading.local):
    """What each thread that builds in a graph has for itself."""

    name_stack = ""


class _ControlScope:
    """One `control_dependencies`: what to wait for, and the nodes made inside."""

    __slots__ = ("inputs", "made")

    def __init__(self, inputs: tuple[Operation, ...]) -> None:
        self.inputs = inputs
        self.made: set[Operation] = set()


Kept = TypeVar("Kept")

_SURROUNDINGS = (
    "_device_scopes", "_control_scopes", "_colocation", "_gradient_types", "_kernel_labels",
    "_context", "_container",
)  # fmt: skip


@lazy.supplied_by("tfdist.graph.create_op", "create_op")
class Graph:
    """A dataflow graph that grows; sessions run parts of it.

    Attributes:
      seed: the graph-level random seed, or None.
      finalized: whether adding nodes is an error.
    """

    outer: Graph | None = None  # for the body of a function, the graph in which it is defined

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._thread_state = _ThreadState()
        self._device_scopes: tuple[DeviceScope, ...] = ()
        self._control_scopes: tuple[_ControlScope, ...] = ()
        self._colocation: tuple[Operation, ...] = ()
        self._gradient_types: dict[str, str] = {}  # of ops, by `gradient_override_map`
        self._kernel_labels: dict[str, str] = {}  # of ops, by `_kernel_label_map`
        self._context: Any = None  # the branch or loop that nodes are built in (`contexts`)
        self._container = ""
        self._functions: dict[str, Function] = {}
        self._function_gradients: dict[str, str] = {}
        self._bodies: dict[str, Any] = {}  # graphs of functions that were built here, by name
        self._traces: dict[Any, Any] = {}  # functions made of Python functions that were called
        self._collections: dict[Any, list[Any]] = {}
        self._kept: dict[type, Any] = {}
        self._versions: Any = None  # a VersionDef, once nodes were imported
        self._not_feedable: set[Any] = set()
        self._not_fetchable: set[Any] = set()
        self._lock = threading.RLock()
        self.seed: int | None = None
        self.finalized = False

    def kept(self, kind: type[Kept]) -> Kept:
        """Return the one `kind()` that floors above keep for this graph; it goes with the graph.

        A table of them by graph would hold each graph for good, for they lead back to its nodes.
        """
        with self._lock:
            if kind not in self._kept:
                self._kept[kind] = kind()
            return self._kept[kind]  # type: ignore[no-any-return]

    def keeps(self, kind: type) -> bool:
        """Return whether something of that class, or of one made from it, is kept."""
        return any(issubclass(each, kind) for each in self._kept)

    def _get_control_flow_context(self) -> OwnContext:
        return self._context

    def _set_control_flow_context(self, context: OwnContext) -> None:
        self._context = context

    @property
    def _c_graph(self) -> Graph:  # what pywrap_tensorflow's functions take for the graph
        return self

    # names

    @property
    def _name_stack(self) -> str:
        return self._thread_state.name_stack

    @_name_stack.setter
    def _name_stack(self, scope: str) -> None:
        self._thread_state.name_stack = scope

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return `name` inside the current scope, with "_1", "_2" ... if it is taken.

        Names that differ in case only count as the same, as in TensorFlow.
        """
        with self._lock:
            name = f"{self._name_stack}/{name}" if self._name_stack else name
            key = name.lower()
            taken = self._names_in_use.get(key, 0)
            if mark_as_used:
                self._names_in_use[key] = taken + 1
            if not taken:
                return name
            while (candidate := f"{name}_{taken}").lower() in self._names_in_use:
                taken += 1
            if mark_as_used:
                self._names_in_use[key] = taken + 1
                self._names_in_use[candidate.lower()] = 1
            return candidate

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix names made inside with "NAME/"; see `scopes.name_scope`."""
        if name and not (names.VALID_SCOPE if self._name_stack else names.VALID_NODE).match(name):
            raise ValueError(f"{name!r} is not a valid scope name: letters, digits and _.-/ are")
        outer = self._name_stack
        if not name:
            self._name_stack = ""
        elif name.endswith("/"):
            self._name_stack = name[:-1]
        else:
            self._name_stack = self.unique_name(name)
        try:
            yield f"{self._name_stack}/" if self._name_stack else ""
        finally:
            self._name_stack = outer

    def get_name_scope(self) -> str:
        """Return the current scope, without "/" at the end."""
        return self._name_stack

    # the other scopes

    @contextmanager
    def _set(self, **state: object) -> Iterator[None]:
        outer = {name: getattr(self, name) for name in state}
        for name, value in state.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in outer.items():
                setattr(self, name, value)

    def surroundings(self) -> dict[str, Collected]:
        """Return what surrounds new nodes: all scopes but the names'; `surround` takes it."""
        return {name: getattr(self, name) for name in _SURROUNDINGS}

    def surround(self, surroundings: dict[str, Collected]) -> None:
        """Go back to what `surroundings` returned: replicas are built in turn."""
        for name, value in surroundings.items():
            setattr(self, name, value)

    def device(self, device_name_or_function: DeviceScope) -> AbstractContextManager[None]:
        """Ask for a device; see `scopes.device`. ValueError if a name is not a device's."""
        asked = device_name_or_function
        if asked is not None and not callable(asked):
            asked = devices.canonical(str(asked))
        return self._set(_device_scopes=(*self._device_scopes, asked))

    def control_dependencies(
        self, control_inputs: Iterable[TensorLike] | None
    ) -> AbstractContextManager[None]:
        """Let nodes made inside run after `control_inputs`; see `scopes.control_dependencies`."""
        if control_inputs is None:
            return self._set(_control_scopes=(), _context=None)
        wanted = tuple(self._operation_of(each) for each in control_inputs)
        return self._set(_control_scopes=(*self._control_scopes, _ControlScope(wanted)))

    def colocate_with(
        self, op: TensorLike, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """Place nodes made inside with `op`; see `scopes.colocate_with`."""
        outer = () if ignore_existing else self._colocation
        if op is None:
            if not ignore_existing:
                raise ValueError("Trying to reset colocation (op is None) but ignore_existing is "
                                 "not True")  # fmt: skip
            return self._set(_colocation=(), _device_scopes=())
        # a request from outside must not tear apart what is to stay together
        inner = (self._operation_of(op),)
        return self._set(_colocation=outer + inner, _device_scopes=(None,))

    def container(self, container_name: str) -> AbstractContextManager[None]:
        """Keep state made inside in the servers' container `container_name`."""
        return self._set(_container=container_name)

    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> AbstractContextManager[None]:
        """Let nodes made inside have other gradients.

        Args:
          op_type_map: for names of ops, names that `RegisterGradient` gave to gradients.

        Raises:
          TypeError: it is no dict from strings to strings.
        """
        types = _names(op_type_map, "op_type_map")
        return self._set(_gradient_types={**self._gradient_types, **types})

    def _kernel_label_map(
        self, op_to_kernel_label_map: Mapping[str, str]
    ) -> AbstractContextManager[None]:
        """Let nodes made inside have the kernels that are registered under a label.

        Args:
          op_to_kernel_label_map: for names of ops, labels.

        Raises:
          TypeError: it is no dict from strings to strings.
        """
        labels = _names(op_to_kernel_label_map, "op_to_kernel_label_map")
        return self._set(_kernel_labels={**self._kernel_labels, **labels})

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the default graph of this thread while the context lasts."""
        return default_graph(self)

    def _operation_of(self, element: TensorLike) -> Operation:
        if hasattr(element, "_as_operation"):
            element = element._as_operation()
        found = self.as_graph_element(element)
        return found.op if isinstance(found, Tensor) else found

    def control_inputs_for(self, inputs: Iterable[Tensor]) -> list[Operation]:
        """Return the surrounding dependencies that a node with `inputs` does not imply.

        An input that was made inside a scope has waited for all of it already; one that the
        scope waits for itself need not be waited for twice.
        """
        if not self._control_scopes:
            return []
        feeding = {tensor.op for tensor in inputs}
        wanted: dict[Operation, None] = {}
        for scope in self._control_scopes:
            if feeding.isdisjoint(scope.made):
                wanted.update(dict.fromkeys(op for op in scope.inputs if op not in feeding))
        return list(wanted)

    def apply_device_scopes(self, op: Operation) -> None:
        """Set on `op` what the surrounding device scopes ask for, innermost last."""
        scopes = self._device_scopes
        if not scopes:
            return
        first = max((i for i, scope in enumerate(scopes) if scope is None), default=-1) + 1
        # an inner request wins over an outer one, and a function sees what inner scopes set
        for scope in reversed(scopes[first:]):
            if callable(scope):
                asked = scope(op)
                asked = "" if asked is None else devices.canonical(str(asked))
                op._set_device_from_string(asked)
            elif scope:
                op._set_device_from_string(devices.merge(scope, op.device or ""))

    _apply_device_functions = apply_device_scopes  # Keras asks it by TensorFlow's name

    # nodes

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
        for scope in self._control_scopes:
            scope.made.add(op)

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

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False
    ) -> pb.GraphDef:
        """Return a GraphDef message with the nodes made after `from_version`."""
        proto: pb.GraphDef = _graph_to_proto(self, add_shapes, from_version)
        return proto

    @property
    def graph_def_versions(self) -> pb.VersionDef:
        """Return the VersionDef message that `as_graph_def` writes."""
        proto: pb.VersionDef = _versions(self)
        return proto

    # functions

    @property
    def library(self) -> Library:
        """Return the functions that nodes may call, as they are now."""
        return Library(self._functions, self._function_gradients)

    def add_function(self, function: Function, gradient: str | None = None) -> None:
        """Let nodes call `function`.

        Args:
          function: with a name that no other function here has.
          gradient: name of its gradient function, if it has one of its own.

        Raises:
          ValueError: there is another function of that name, or an op.
        """
        if function.name in REGISTRY:
            raise ValueError(f"a function cannot have the name {function.name!r}: an op has it")
        known = self._functions.setdefault(function.name, function)
        if known is not function and not is_same(known, function):
            raise ValueError(f"the graph has another function {function.name!r} already")
        if gradient is not None:
            self._function_gradients[function.name] = gradient

    @property
    def outermost(self) -> Graph:
        """Return the graph around all functions: this one, unless it is a function's body."""
        return self

    def captured(self, name: str, op_def: OpDef, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the inputs of a new node with what is inside; see `FunctionGraph`."""
        return inputs

    def inside(self, name: str, tensor: Tensor) -> Tensor:
        """Return what stands for a tensor of another graph inside; see `FunctionGraph`."""
        return tensor

    def op_def(self, op: str) -> OpDef:
        """Return the definition of an op, or of the calls of a function of that name.

        Raises:
          NotFoundError: there is neither.
        """
        function = self._functions.get(op)
        return lookup(op) if function is None else CallOp(function)

    # collections

    def add_to_collection(self, name: object, value: object) -> None:
        """Append `value` to the collection `name`; RuntimeError if the graph is finalized."""
        if self.finalized:
            raise RuntimeError(
                f"Graph is finalized and cannot be modified: nothing can be added to {name!r}"
            )
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: str | Iterable[object], value: object) -> None:
        """Append `value` to each of the collections `names` (one name or several), once."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: object, scope: str | None = None) -> list[Collected]:
        """Return a copy of the collection; with `scope`, those whose name starts with it."""
        values = self._collections.get(name, [])
        if scope is None:
            return list(values)
        return [v for v in values if hasattr(v, "name") and re.match(scope, v.name)]

    def get_collection_ref(self, name: object) -> list[Collected]:
        """Return the collection itself, to be changed."""
        return self._collections.setdefault(name, [])

    def clear_collection(self, name: object) -> None:
        """Empty the collection."""
        self._collections.pop(name, None)

    def get_all_collection_keys(self) -> list[str]:
        """Return the names of the collections that hold something."""
        return [name for name, values in self._collections.items() if values]

    @property
    def collections(self) -> list[str]:
        """Return the names of the collections that hold something."""
        return self.get_all_collection_keys()


def _names(given: str | Iterable[str], what: str) -> dict[str, str]:
    """Return a dict from strings to strings; TypeError naming `what` if it is none."""
    if not isinstance(given, dict) or not all(
        isinstance(each, str) for pair in given.items() for each in pair
    ):
        raise TypeError(f"{what} must be a dict from names to names, not {given!r}")
    return given

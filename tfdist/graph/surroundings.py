"""What surrounds new nodes of a graph: scopes of names, devices, dependencies and the like.

`scopes` has the functions that open them in the default graph.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfdist.base import devices, names
from tfdist.base.aliases import Collected, OwnContext, TensorLike
from tfdist.graph.nodes import Nodes
from tfdist.graph.operation import Operation, Tensor

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


_SURROUNDINGS = (
    "_device_scopes", "_control_scopes", "_colocation", "_gradient_types", "_kernel_labels",
    "_context", "_container",
)  # fmt: skip


class Surroundings(Nodes):
    """Nodes, and the scopes that are open for the next ones."""

    def __init__(self) -> None:
        super().__init__()
        self._names_in_use: dict[str, int] = {}
        self._thread_state = _ThreadState()
        self._device_scopes: tuple[DeviceScope, ...] = ()
        self._control_scopes: tuple[_ControlScope, ...] = ()
        self._colocation: tuple[Operation, ...] = ()
        self._gradient_types: dict[str, str] = {}  # of ops, by `gradient_override_map`
        self._kernel_labels: dict[str, str] = {}  # of ops, by `_kernel_label_map`
        self._context: Any = None  # the branch or loop that nodes are built in (`contexts`)
        self._container = ""

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

    def _get_control_flow_context(self) -> OwnContext:
        return self._context

    def _set_control_flow_context(self, context: OwnContext) -> None:
        self._context = context

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

    def add(self, op: Operation) -> None:
        super().add(op)
        for scope in self._control_scopes:
            scope.made.add(op)


def _names(given: str | Iterable[str], what: str) -> dict[str, str]:
    """Return a dict from strings to strings; TypeError naming `what` if it is none."""
    if not isinstance(given, dict) or not all(
        isinstance(each, str) for pair in given.items() for each in pair
    ):
        raise TypeError(f"{what} must be a dict from names to names, not {given!r}")
    return given

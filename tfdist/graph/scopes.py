"""What surrounds a new node: default graph, default session, name scopes, devices, dependencies.

The stacks of default graphs and sessions belong to a thread (`stacks`), the others to a graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TypeVar

from tfdist.base.aliases import Collected, TensorLike
from tfdist.graph import stacks
from tfdist.graph.graph import Graph
from tfdist.graph.surroundings import DeviceScope

T = TypeVar("T")

_global_graph: Graph | None = None  # of threads that entered none


def get_default_graph() -> Graph:
    """Return the graph that new nodes go to: the innermost `as_default`, or the process's own."""
    global _global_graph
    graphs = stacks.STACKS.graphs
    if graphs:
        return graphs[-1]  # type: ignore[no-any-return]
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph() -> None:
    """Replace the process's own default graph by an empty one.

    Raises:
      AssertionError: the caller stands inside `with graph.as_default()`.
    """
    global _global_graph
    if stacks.STACKS.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs: it was called inside "
            "`with graph.as_default()`; leave it first"
        )
    _global_graph = Graph()


class name_scope:
    """Prefix the names of nodes made inside with "NAME/"; gives the scope's full name.

    It may be entered by hand, and again after it was left.

    Args:
      name: None with a default_name takes that; None alone or "" goes to the root; a name that
        ends in "/" re-enters that very scope.
      default_name: used where `name` is None.
      values: tensors of the graph that is meant, which is the default graph inside.

    Attributes:
      name: what was asked for.

    Raises:
      ValueError: `values` are of several graphs, or there are some and no name.
      TypeError: the name is no string.
    """

    def __init__(
        self,
        name: str | None,
        default_name: str | None = None,
        values: Iterable[TensorLike] | None = None,
    ) -> None:
        self._name = default_name if name is None else name
        if self._name is not None and not isinstance(self._name, str):
            raise TypeError(f"a scope's name is a string, not {self._name!r}")
        self._values = None if values is None else list(values)
        self._entered: list[AbstractContextManager[str]] = []

    @property
    def name(self) -> str | None:
        """Return the name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        scope = self._scope()
        given = scope.__enter__()
        self._entered.append(scope)
        return given

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered.pop().__exit__(kind, error, trace)

    def _scope(self) -> AbstractContextManager[str]:
        """Return the scope to enter, of the graph that is meant."""
        graph = get_default_graph()
        if not self._values:
            return graph.name_scope(self._name)
        if self._name is None:
            raise ValueError("At least one of name and default_name must be given beside values")
        meant = graph_of(self._values)
        scope = meant.name_scope(self._name)
        return scope if meant is graph else elsewhere(meant, scope)


@contextmanager
def elsewhere(graph: Graph, context: AbstractContextManager[T]) -> Iterator[T]:
    """Let `graph` be the default one in `context`."""
    with graph.as_default(), context as given:
        yield given


def graph_of(values: Iterable[TensorLike]) -> Graph:
    """Return the graph that `values` are of, or the default one; a function's body takes all in.

    Raises:
      ValueError: they are of several graphs.
    """
    graph = get_default_graph()
    if graph.outer is not None:
        return graph
    found = [each for each in values if hasattr(each, "graph")]
    for each in found:
        if each.graph is not found[0].graph:
            raise ValueError(f"{each!r} must be from the same graph as {found[0]!r}.")
    return found[0].graph if found else graph


@contextmanager
def init_scope() -> Iterator[Graph]:
    """Lift what is made inside out of functions, branches, loops and dependencies.

    The name scope stays. Variables are made so.

    Yields:
      The graph around all functions, which is the default graph inside.
    """
    graph = get_default_graph()
    scope = graph.get_name_scope()
    with (
        graph.outermost.as_default() as outermost,
        outermost.control_dependencies(None),
        outermost.name_scope(f"{scope}/" if scope else None),
    ):
        yield outermost


def device(device_name_or_function: DeviceScope) -> AbstractContextManager[None]:
    """Ask that nodes made inside run on a device.

    Args:
      device_name_or_function: a device's name or part of one ("/job:ps", "/cpu:0"), which inner
        scopes refine; a function from Operation to such a name; None for no request.
    """
    return get_default_graph().device(device_name_or_function)


def control_dependencies(
    control_inputs: Iterable[TensorLike] | None,
) -> AbstractContextManager[None]:
    """Let nodes made inside run after `control_inputs`; None forgets the outer dependencies."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: TensorLike, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Place nodes made inside on the device of `op`, whatever that will be."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> AbstractContextManager[None]:
    """Keep variables and queues made inside in the servers' container `container_name`."""
    return get_default_graph().container(container_name)


def add_to_collection(name: object, value: object) -> None:
    """Append `value` to the default graph's collection `name`."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: str | Iterable[object], value: object) -> None:
    """Append `value` to each of the default graph's collections `names`."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: object, scope: str | None = None) -> list[Collected]:
    """Return a copy of the default graph's collection `key`; see `Graph.get_collection`."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: object) -> list[Collected]:
    """Return the default graph's collection `key` itself, to be changed."""
    return get_default_graph().get_collection_ref(key)


def op_scope(
    values: Iterable[TensorLike], name: str | None, default_name: str | None = None
) -> AbstractContextManager[str]:
    """Do as `name_scope`, with the arguments in the order of TensorFlow 0.x."""
    return name_scope(name, default_name, values)

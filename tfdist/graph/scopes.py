"""What surrounds a new node: default graph, default session, name scopes, devices, dependencies.

The stacks of default graphs and sessions belong to a thread (`stacks`), the others to a graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfdist.graph import stacks
from tfdist.graph.graph import Graph

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


def name_scope(
    name: str | None, default_name: str | None = None, values: Iterable[Any] = ()
) -> AbstractContextManager[str]:
    """Prefix the names of nodes made inside with "NAME/"; gives the scope's full name.

    Args:
      name: None with a default_name takes that; None alone or "" goes to the root; a name that
        ends in "/" re-enters that very scope.
      default_name: used where `name` is None.
      values: tensors of the graph that is meant, where it is not the default graph.
    """
    graph = get_default_graph()
    if graph.outer is None:  # a function's body takes what is of other graphs
        graph = next((v.graph for v in values if hasattr(v, "graph")), graph)
    return graph.name_scope(default_name if name is None else name)


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


def device(name_or_function: Any) -> AbstractContextManager[None]:
    """Ask that nodes made inside run on a device.

    Args:
      name_or_function: a device's name or part of one ("/job:ps", "/cpu:0"), which inner
        scopes refine; a function from Operation to such a name; None for no request.
    """
    return get_default_graph().device(name_or_function)


def control_dependencies(inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
    """Let nodes made inside run after `inputs`; None forgets the outer dependencies."""
    return get_default_graph().control_dependencies(inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Place nodes made inside on the device of `op`, whatever that will be."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(name: str) -> AbstractContextManager[None]:
    """Keep variables and queues made inside in the servers' container `name`."""
    return get_default_graph().container(name)


def add_to_collection(name: Any, value: Any) -> None:
    """Append `value` to the default graph's collection `name`."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append `value` to each of the default graph's collections `names`."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Return a copy of the default graph's collection `key`; see `Graph.get_collection`."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """Return the default graph's collection `key` itself, to be changed."""
    return get_default_graph().get_collection_ref(key)


def op_scope(
    values: Iterable[Any], name: str | None, default_name: str | None = None
) -> AbstractContextManager[str]:
    """Do as `name_scope`, with the arguments in the order of TensorFlow 0.x."""
    return name_scope(name, default_name, values)

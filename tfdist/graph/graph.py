"""Graph: nodes and what surrounds new ones, with functions that they call, and collections."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from tfdist.base import lazy
from tfdist.base.aliases import Collected
from tfdist.graph.functions import CallOp, Function, Library, is_same
from tfdist.graph.op_def import REGISTRY, OpDef, lookup
from tfdist.graph.operation import Tensor
from tfdist.graph.stacks import default_graph
from tfdist.graph.surroundings import Surroundings
from tfdist.protos import pb

# What makes messages stands above this file.
_graph_to_proto = lazy.function("tfdist.graph.graph_def", "graph_to_proto")
_versions = lazy.function("tfdist.graph.graph_def", "versions")

Kept = TypeVar("Kept")


@lazy.supplied_by("tfdist.graph.create_op", "create_op")
class Graph(Surroundings):
    """A dataflow graph that grows; sessions run parts of it.

    Attributes:
      seed: the graph-level random seed, or None.
      finalized: whether adding nodes is an error.
    """

    outer: Graph | None = None  # for the body of a function, the graph in which it is defined

    def __init__(self) -> None:
        super().__init__()
        self._functions: dict[str, Function] = {}
        self._function_gradients: dict[str, str] = {}
        self._bodies: dict[str, Any] = {}  # graphs of functions that were built here, by name
        self._traces: dict[Any, Any] = {}  # functions made of Python functions that were called
        self._collections: dict[Any, list[Any]] = {}
        self._kept: dict[type, Any] = {}
        self._versions: Any = None  # a VersionDef, once nodes were imported
        self.seed: int | None = None

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

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the default graph of this thread while the context lasts."""
        return default_graph(self)

    @property
    def _c_graph(self) -> Graph:  # what pywrap_tensorflow's functions take for the graph
        return self

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

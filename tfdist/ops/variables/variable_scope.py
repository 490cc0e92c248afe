"""variable_scope: prefixes of variables' names, and defaults of `get_variable`, kept by graph.

Source: TF 1.15 API documentation, tf.variable_scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any

from tfdist.base import dtypes, lazy
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.partitioned_variables import PartitionedVariable
from tfdist.ops.variables.resource_variables import kind
from tfdist.ops.variables.variable import Variable

__all__ = [
    "AUTO_REUSE", "VariableScope", "get_variable_scope", "no_regularizer", "variable_op_scope",
    "variable_scope",
]  # fmt: skip


_get_in_scope = lazy.function("tfdist.ops.variables.get_variable", "get_in_scope")


class _ReuseMode(Enum):
    """The value of `reuse` by which a variable is made if it is not there yet; it is true."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


def no_regularizer(_: Any) -> None:
    """Return None: keeps an outer scope's regularizer away."""


@dataclass
class VariableScope:
    """What surrounds calls of `get_variable`.

    Attributes:
      reuse: False or None to make variables, True to find them, AUTO_REUSE for either.
      name: prefix of variables' names, without "/" at the end.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, constraint,
        use_resource: defaults of `get_variable`.
      original_name_scope: the name scope that was opened with it.
    """

    reuse: Any
    name: str = ""
    initializer: Any = None
    regularizer: Any = None
    caching_device: Any = None
    partitioner: Any = None
    custom_getter: Any = None
    dtype: Any = dtypes.float32
    constraint: Any = None
    use_resource: bool | None = None
    original_name_scope: str = ""

    def reuse_variables(self) -> None:
        """Let `get_variable` find variables from here to the end of the scope."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Set the default initializer from here to the end of the scope."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Set the default regularizer from here to the end of the scope."""
        self.regularizer = regularizer

    def set_partitioner(self, partitioner: Any) -> None:
        """Set the default partitioner from here to the end of the scope."""
        self.partitioner = partitioner

    def set_use_resource(self, use_resource: bool) -> None:
        """Set the default kind of variables from here to the end of the scope."""
        self.use_resource = use_resource

    def set_caching_device(self, caching_device: Any) -> None:
        """Set where values of variables are kept, from here to the end of the scope."""
        self.caching_device = caching_device

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Set the custom getter from here to the end of the scope."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Set the default type from here to the end of the scope."""
        self.dtype = dtype

    def get_variable(self, var_store: Any, name: str, *given: Any, **options: Any) -> Any:
        """Return a variable of this scope; see `tf.get_variable`.

        Args:
          var_store: taken, and not used: a graph has one store of variables.
          name: inside of this scope.
          *given: further arguments of `tf.get_variable`.
          **options: the same, by name.
        """
        return _get_in_scope(self, name, *given, **options)

    def get_collection(self, name: Any) -> list[Any]:
        """Return the elements of a collection whose names lie in this scope."""
        return self._within(name)

    def local_variables(self) -> list[Any]:
        """Return the local variables whose names lie in this scope."""
        return self._within(GraphKeys.LOCAL_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Return the global variables whose names lie in this scope."""
        return self._within(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """Return the trainable variables whose names lie in this scope."""
        return self._within(GraphKeys.TRAINABLE_VARIABLES)

    def _within(self, key: str) -> list[Any]:
        prefix = f"{self.name}/" if self.name else ""
        return scopes.get_default_graph().get_collection(key, prefix)


@dataclass
class VariableStore:
    """The variables of a graph by name, and its current scope."""

    variables: dict[str, Variable] = field(default_factory=dict)
    in_parts: dict[str, PartitionedVariable] = field(default_factory=dict)
    scope: VariableScope = field(default_factory=partial(VariableScope, False))
    opened: dict[str, int] = field(default_factory=dict)


def store_of(graph: Graph) -> VariableStore:
    """Return what `graph`, an outermost one, keeps: its variables by name, and its scope."""
    return graph.kept(VariableStore)


def get_variable_scope() -> VariableScope:
    """Return the current variable scope."""
    return store_of(scopes.get_default_graph().outermost).scope


class variable_scope:
    """Prefix names of variables and nodes made inside, and set defaults of `get_variable`.

    Args:
      name_or_scope: a name inside the current scope, or a VariableScope to enter again.
      default_name: made unique, where `name_or_scope` is None.
      values: tensors of the graph that is meant.
      initializer: default initializer.
      regularizer: default regularizer.
      caching_device: where the value of a resource variable is kept for its readers.
      partitioner: default partitioner: into how many parts variables are split.
      custom_getter: called instead of `get_variable`, with it as first argument; that calls the
        one of the scope around, if there is one.
      reuse: True to find variables that exist, AUTO_REUSE to find or make them.
      dtype: default type.
      use_resource: whether variables made inside are resource variables by default.
      constraint: default constraint.
      auxiliary_name_scope: whether a name scope is opened, too.

    Gives the VariableScope; it may be entered by hand, and again after it was left.

    Raises:
      TypeError: neither a name nor a default name, or what is no name.
      ValueError: `reuse` is none of these.

    Example:
      >>> with variable_scope("layer"):
      ...     w = get_variable("w", [2])
      >>> with variable_scope("layer", reuse=True):
      ...     w is get_variable("w", [2])
      True
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: Any = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError(f"The reuse parameter must be True or False or None, not {reuse!r}.")
        self._name_or_scope, self._default_name = name_or_scope, default_name
        self._values = list(values or ())
        self._reuse, self._custom_getter = reuse, custom_getter
        self._has_names = auxiliary_name_scope
        self._given = {
            "initializer": initializer, "regularizer": regularizer,
            "caching_device": caching_device, "partitioner": partitioner,
            "custom_getter": custom_getter, "dtype": dtype, "constraint": constraint,
            "use_resource": use_resource,
        }  # fmt: skip
        self._entered: list[AbstractContextManager[VariableScope]] = []

    def __enter__(self) -> VariableScope:
        graph = scopes.graph_of(self._values)
        context = self._opened(graph)
        if graph is not scopes.get_default_graph():
            context = scopes.elsewhere(graph, context)
        scope = context.__enter__()
        self._entered.append(context)
        return scope

    def __exit__(self, *raised: Any) -> bool | None:
        return self._entered.pop().__exit__(*raised)

    @contextmanager
    def _opened(self, graph: Graph) -> Iterator[VariableScope]:
        name_or_scope = self._name_or_scope
        store = store_of(graph.outermost)
        outer = store.scope
        scope, label = _entered(store, outer, name_or_scope, self._default_name)
        scope = replace(scope, **self._changes(scope), reuse=self._reuse or scope.reuse)
        with graph.name_scope(label if self._has_names else _same()) as name:
            known = name_or_scope.original_name_scope if _is_scope(name_or_scope) else name
            store.scope = replace(scope, original_name_scope=known)
            opened = dict(store.opened)
            try:
                yield store.scope
            finally:
                store.scope = outer
                if _is_scope(name_or_scope):
                    store.opened = opened
                else:
                    _forget_within(store, scope.name)

    def _changes(self, scope: VariableScope) -> dict[str, Any]:
        """Return what was given in place of what `scope` has."""
        given = {key: value for key, value in self._given.items() if value is not None}
        if self._custom_getter is not None and scope.custom_getter is not None:
            given["custom_getter"] = _chained(self._custom_getter, scope.custom_getter)
        return given


def _chained(inner: Callable[..., Any], outer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a custom getter that calls `inner`, whose getter calls `outer`."""

    def chained(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return inner(partial(outer, getter), *args, **kwargs)

    return chained


def _is_scope(name_or_scope: Any) -> bool:
    return isinstance(name_or_scope, VariableScope)


def _forget_within(store: VariableStore, name: str) -> None:
    """Let default names begin anew when a scope is entered by its name once more."""
    prefix = f"{name}/"
    store.opened = {key: n for key, n in store.opened.items() if not key.startswith(prefix)}


def _same() -> str | None:
    current = scopes.get_default_graph().get_name_scope()
    return f"{current}/" if current else None


def _entered(
    store: VariableStore, outer: VariableScope, name_or_scope: Any, default_name: str | None
) -> tuple[VariableScope, str | None]:
    """Return the scope that is entered, and the name scope to open with it."""
    if isinstance(name_or_scope, VariableScope):
        return name_or_scope, name_or_scope.name.split("/")[-1] or _same()
    label = name_or_scope
    if name_or_scope is None:
        assert default_name is not None  # `variable_scope` sees to that
        name_or_scope, label = _unique(store, outer, default_name), default_name
    name = f"{outer.name}/{name_or_scope}" if outer.name else name_or_scope
    store.opened[name] = store.opened.get(name, 0) + 1
    return replace(outer, name=name), label or _same()


def _unique(store: VariableStore, outer: VariableScope, name: str) -> str:
    prefix = f"{outer.name}/" if outer.name else ""
    candidate, number = name, 0
    while prefix + candidate in store.opened:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


@contextmanager
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, **options: Any
) -> Iterator[VariableScope]:
    """Do as `variable_scope`, with the arguments in the order of TensorFlow 0.x."""
    with variable_scope(name_or_scope, default_name, values, **options) as scope:
        yield scope


def kind_in_scope(use_resource: bool | None, variable_def: Any = None) -> type[Variable]:
    """Return the class of a new variable: what the variable scope says, if nobody else does."""
    return kind(get_variable_scope().use_resource if use_resource is None else use_resource,
                variable_def)  # fmt: skip

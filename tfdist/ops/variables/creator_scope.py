"""variable_creator_scope: functions that stand between a program and the variables it makes.

Source: TF 1.15 API documentation, tf.variable_creator_scope.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.variables.synchronization import VariableAggregation, VariableSynchronization

__all__ = ["variable_creator_scope"]

_CREATORS: WeakKeyDictionary[Graph, tuple[Callable[..., Any], ...]] = WeakKeyDictionary()

# What a creator is told of a variable, in the order in which `Variable` takes it.
_ARGUMENTS = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name",
    "variable_def", "dtype", "expected_shape", "import_scope", "constraint", "use_resource",
)  # fmt: skip
_DEFAULTS = {**dict.fromkeys(_ARGUMENTS), "validate_shape": True,
             "synchronization": VariableSynchronization.AUTO,
             "aggregation": VariableAggregation.NONE, "shape": None}  # fmt: skip


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Let a function decide how variables are made, in the block that follows.

    Args:
      variable_creator: takes `next_creator`, which makes the variable as it would be made without
        this scope, and as keyword arguments what `Variable` takes; returns a variable.

    Example:
      >>> def on_trial(next_creator, **arguments):
      ...     return next_creator(**{**arguments, "trainable": False})
      >>> with variable_creator_scope(on_trial):
      ...     _ = Variable(1.0)
      >>> trainable_variables()
      []
    """
    graph = scopes.get_default_graph().outermost
    before = _CREATORS.get(graph, ())
    _CREATORS[graph] = (*before, variable_creator)
    try:
        yield
    finally:
        _CREATORS[graph] = before


class Creating(type):
    """The class of `Variable`: asks the functions of the scopes around for a new variable."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        """Return a variable; those of scopes are asked about `Variable` itself only."""
        if cls.__name__ != "Variable" or not _CREATORS:
            return super().__call__(*arguments, **options)
        creators = _CREATORS.get(scopes.get_default_graph().outermost)
        if not creators:
            return super().__call__(*arguments, **options)
        told = {**_DEFAULTS, **dict(zip(_ARGUMENTS, arguments, strict=False)), **options}
        creator: Callable[..., Any] = functools.partial(Creating._plain, cls)
        for each in creators:
            creator = functools.partial(each, creator)
        return creator(**told)

    def _plain(cls, **told: Any) -> Any:
        """Return a variable without asking anybody."""
        return super().__call__(**told)

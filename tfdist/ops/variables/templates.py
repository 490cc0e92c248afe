"""make_template: functions that make their variables when first called, and share them afterwards.

Source: TF 1.15 API documentation, tf.make_template.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfdist.graph import scopes
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.variable_scope import VariableScope, variable_scope

__all__ = ["make_template"]


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
    unique_name_: str | None = None, custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:  # fmt: skip
    """Return a function that makes its variables when first called, and shares them afterwards.

    Args:
      name_: of the variable scope; made unique.
      func_: makes variables by `get_variable`.
      create_scope_now_: whether the scope is that of this call, not of the function's first call.
      unique_name_: of the variable scope, as it stands.
      custom_getter_: of the variable scope.
      **kwargs: given to `func_` in each call.

    Raises:
      ValueError: in a later call, a trainable variable is made.

    Example:
      >>> scale = make_template("scale", lambda x: x * get_variable("by", [], float32))
      >>> both = scale(1.0), scale(2.0)
      >>> [variable.name for variable in scale.variables]
      ['scale/by:0']
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """A function with variables of its own; `make_template` makes them."""

    def __init__(
        self, name: str, function: Callable[..., Any], create_scope_now: bool,
        unique_name: str | None, custom_getter: Callable[..., Any] | None,
    ) -> None:  # fmt: skip
        if name is None:
            raise ValueError("a template needs a name")
        self._function, self._name, self._unique_name = function, name, unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._first_call = True
        if create_scope_now:
            with self._new_scope(auxiliary_name_scope=False) as scope:
                self._scope = scope

    def _new_scope(self, **options: Any) -> Any:
        return variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter, **options
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, in the template's scope."""
        if self._scope is None:
            with self._new_scope() as scope:
                self._scope = scope
                return self._call(args, kwargs)
        with variable_scope(self._scope, reuse=not self._first_call):
            return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        before = len(scopes.get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self._function(*args, **kwargs)
        made = scopes.get_collection(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if made and not self._first_call:
            raise ValueError(
                f"a later call of the template {self._name!r} made the trainable variable "
                f"{made[0].name!r}: its variables are made in the first call, by get_variable, and "
                "shared by all"
            )
        self._first_call = False
        return result

    @property
    def name(self) -> str:
        """Return the name it was given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """Return the function."""
        return self._function

    @property
    def variable_scope(self) -> VariableScope | None:
        """Return the scope of its variables, None before the first call."""
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """Return the name of that scope, None before the first call."""
        return None if self._scope is None else self._prefix()

    def _prefix(self) -> str:
        """Return how the names of its variables begin."""
        return f"{self._scope.name}/" if self._scope and self._scope.name else ""

    def _of(self, *collections: str) -> list[Any]:
        if self._scope is None:
            return []
        prefix = self._prefix()
        return [each for key in collections for each in scopes.get_collection(key, prefix)]

    @property
    def trainable_variables(self) -> list[Any]:
        """Return its variables that optimizers change."""
        return self._of(GraphKeys.TRAINABLE_VARIABLES)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Return its other variables."""
        trained = self.trainable_variables
        return [each for each in self.variables if not any(each is other for other in trained)]

    non_trainable_weights = non_trainable_variables

    @property
    def global_variables(self) -> list[Any]:
        """Return its variables that are shared and saved."""
        return self._of(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Return its variables that are local."""
        return self._of(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """Return all its variables."""
        return self._of(GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)

    weights = variables

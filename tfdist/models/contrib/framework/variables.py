"""Variables as tf.contrib makes and finds them: a model's own have a collection of theirs.

Source: TF 1.15 API documentation, tf.contrib.framework.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.variable import Variable

__all__ = [
    "add_model_variable", "filter_variables", "get_local_variables", "get_model_variables",
    "get_trainable_variables", "get_unique_variable", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "local_variable",
    "model_variable", "variable",
]  # fmt: skip


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
) -> Any:
    """Return the variable `name` of the current scope; see `tf.get_variable`.

    `device` is where it goes; the other arguments are those of `tf.get_variable`.

    Example:
      >>> contrib.framework.variable("v", [2]).name
      'v:0'
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    getter = custom_getter or get_variable
    with scopes.device(device or ""):
        return getter(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
            trainable=trainable, collections=collections, caching_device=caching_device,
            partitioner=partitioner, use_resource=use_resource,
        )  # fmt: skip


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
) -> Any:
    """Do as `variable`, for one that is in MODEL_VARIABLES, too.

    Example:
      >>> contrib.framework.model_variable("v", [2]) is model_variables()[0]
      True
    """
    own = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name, shape, dtype, initializer, regularizer, trainable, [*(collections or []), *own],
        caching_device, device, partitioner, custom_getter, use_resource,
    )  # fmt: skip


def add_model_variable(var: Any) -> None:
    """Add a variable to MODEL_VARIABLES, unless it is there.

    Example:
      >>> contrib.framework.add_model_variable(Variable(1.0))
      >>> len(model_variables())
      1
    """
    kept = scopes.get_collection_ref(GraphKeys.MODEL_VARIABLES)
    if not any(var is other for other in kept):
        kept.append(var)


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Return a variable that is local to the task and not trained.

    Example:
      >>> contrib.framework.local_variable(1.0) is local_variables()[0]
      True
    """
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape, name=name, use_resource=use_resource,
    )  # fmt: skip


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """Return a variable that is shared, and not trained.

    Example:
      >>> contrib.framework.global_variable(1.0) is global_variables()[0]
      True
    """
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape, name=name, use_resource=use_resource,
    )  # fmt: skip


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """Return the variables of a collection.

    Args:
      scope: only those in this scope: a name, or a VariableScope.
      suffix: only those whose name ends so.
      collection: the collection.

    Example:
      >>> _ = contrib.layers.fully_connected(zeros([1, 2]), 3, scope="a")
      >>> [each.op.name for each in contrib.framework.get_variables("a", "biases")]
      ['a/biases']
    """
    scope = getattr(scope, "name", scope)
    if suffix is not None:
        scope = (scope if scope is not None and ":" in scope else f"{scope or ''}.*") + suffix
    return scopes.get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the model's variables; arguments as of `get_variables`.

    Example:
      >>> contrib.framework.get_model_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the local variables; arguments as of `get_variables`.

    Example:
      >>> contrib.framework.get_local_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the variables that are trained; arguments as of `get_variables`.

    Example:
      >>> contrib.framework.get_trainable_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Return the global variables with this name, in any scope.

    Args:
      given_name: the last part of the name.
      scope: only those in this scope.

    Example:
      >>> _ = contrib.layers.fully_connected(zeros([1, 2]), 3, scope="a")
      >>> [each.op.name for each in contrib.framework.get_variables_by_name("weights")]
      ['a/weights']
    """
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Return the global variables whose names end so; arguments as of `get_variables`.

    Example:
      >>> contrib.framework.get_variables_by_suffix("weights")
      []
    """
    return get_variables(scope, suffix)


def get_unique_variable(var_op_name: str) -> Any:
    """Return the global variable with this full name.

    Raises:
      ValueError: there is none, or more than one.

    Example:
      >>> v = Variable(1.0, name="v")
      >>> contrib.framework.get_unique_variable("v") is v
      True
    """
    candidates = get_variables(var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(
    include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
) -> list[Any]:
    """Return the global variables in some scopes, without those in others.

    Args:
      include: names of scopes; all by default.
      exclude: names of scopes that are left out.

    Raises:
      TypeError: an argument is a string, not a list of them.

    Example:
      >>> v, w = Variable(1.0, name="v"), Variable(1.0, name="w")
      >>> contrib.framework.get_variables_to_restore(exclude=["w"]) == [v]
      True
    """
    for name, given in (("include", include), ("exclude", exclude)):
        if isinstance(given, str):
            raise TypeError(f"{name} must be a list of names, not the string {given!r}")
    found = get_variables() if include is None else _in_scopes(include)
    left_out = _in_scopes(exclude or [])
    return [each for each in found if not any(each is other for other in left_out)]


def _in_scopes(names: Iterable[str]) -> list[Any]:
    return [each for name in names for each in get_variables(name)]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Return the variables whose names fit a pattern, and no other.

    Args:
      var_list: variables.
      include_patterns: regular expressions; all fit by default.
      exclude_patterns: regular expressions, which are looked at last.
      reg_search: whether they may be found anywhere; otherwise at the beginning.

    Example:
      >>> v, w = Variable(1.0, name="v"), Variable(1.0, name="w")
      >>> contrib.framework.filter_variables([v, w], ["^v"]) == [v]
      True
    """
    find = re.search if reg_search else re.match

    def fits(var: Any, patterns: Iterable[str]) -> bool:
        return any(find(pattern, var.op.name) for pattern in patterns)

    found = [v for v in var_list if include_patterns is None or fits(v, include_patterns)]
    return [v for v in found if exclude_patterns is None or not fits(v, exclude_patterns)]

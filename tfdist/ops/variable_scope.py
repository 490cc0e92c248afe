"""variable_scope and get_variable: variables by name, made once and found again.

Source: TF 1.15 API documentation, tf.variable_scope, tf.get_variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from tfdist.base import dtypes
from tfdist.base.shapes import TensorShape, show
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.initializers import glorot_uniform_initializer, zeros_initializer
from tfdist.ops.partitioned_variables import (
    PartitionedVariable,
    made_in_parts,
    partitioned_by,
)
from tfdist.ops.resource_variables import kind
from tfdist.ops.variables import _KIND, GraphKeys, Variable

__all__ = [
    "AUTO_REUSE", "VariableScope", "get_local_variable", "get_variable", "get_variable_scope",
    "no_regularizer", "variable_op_scope", "variable_scope",
]  # fmt: skip


class _AutoReuse:
    """The value of `reuse` by which a variable is made if it is not there yet."""

    def __repr__(self) -> str:
        return "tf.AUTO_REUSE"

    def __bool__(self) -> bool:
        return False


AUTO_REUSE = _AutoReuse()


def no_regularizer(_: Any) -> None:
    """Return None: keeps an outer scope's regularizer away."""


@dataclass
class VariableScope:
    """What surrounds calls of `get_variable`.

    Attributes:
      name: prefix of variables' names, without "/" at the end.
      reuse: False or None to make variables, True to find them, AUTO_REUSE for either.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, constraint,
        use_resource: defaults of `get_variable`.
      original_name_scope: the name scope that was opened with it.
    """

    name: str = ""
    reuse: Any = None
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
class _Store:
    """The variables of a graph by name, and its current scope."""

    variables: dict[str, Variable] = field(default_factory=dict)
    in_parts: dict[str, PartitionedVariable] = field(default_factory=dict)
    scope: VariableScope = field(default_factory=VariableScope)
    opened: dict[str, int] = field(default_factory=dict)


_STORES: WeakKeyDictionary[Graph, _Store] = WeakKeyDictionary()


def _store(graph: Graph) -> _Store:
    return _STORES.setdefault(graph, _Store())


def get_variable_scope() -> VariableScope:
    """Return the current variable scope."""
    return _store(scopes.get_default_graph().outermost).scope


@contextmanager
def variable_scope(
    name_or_scope: Any = None,
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
) -> Iterator[VariableScope]:
    """Prefix names of variables and nodes made inside, and set defaults of `get_variable`.

    Args:
      name_or_scope: a name inside the current scope, or a VariableScope to enter again.
      default_name: made unique, where `name_or_scope` is None.
      values: tensors of the graph that is meant.
      initializer: default initializer.
      regularizer: default regularizer.
      caching_device: where the value of a resource variable is kept for its readers.
      partitioner: default partitioner: into how many parts variables are split.
      custom_getter: called instead of `get_variable`, with it as first argument.
      reuse: True to find variables that exist, AUTO_REUSE to find or make them.
      dtype: default type.
      use_resource: whether variables made inside are resource variables by default.
      constraint: default constraint.
      auxiliary_name_scope: whether a name scope is opened, too.

    Yields:
      The VariableScope.

    Example:
      >>> with variable_scope("layer"):
      ...     w = get_variable("w", [2])
      >>> with variable_scope("layer", reuse=True):
      ...     w is get_variable("w", [2])
      True
    """
    store = _store(scopes.get_default_graph().outermost)
    outer = store.scope
    scope, label = _entered(store, outer, name_or_scope, default_name)
    given = {
        "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
        "partitioner": partitioner, "custom_getter": custom_getter, "dtype": dtype,
        "constraint": constraint, "reuse": reuse, "use_resource": use_resource,
    }  # fmt: skip
    scope = replace(scope, **{key: value for key, value in given.items() if value is not None})
    if outer.reuse is True and reuse is None:
        scope = replace(scope, reuse=True)
    with scopes.get_default_graph().name_scope(label if auxiliary_name_scope else _same()) as name:
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


def _is_scope(name_or_scope: Any) -> bool:
    return isinstance(name_or_scope, VariableScope)


def _forget_within(store: _Store, name: str) -> None:
    """Let default names begin anew when a scope is entered by its name once more."""
    prefix = f"{name}/"
    store.opened = {key: n for key, n in store.opened.items() if not key.startswith(prefix)}


def _same() -> str | None:
    current = scopes.get_default_graph().get_name_scope()
    return f"{current}/" if current else None


def _entered(
    store: _Store, outer: VariableScope, name_or_scope: Any, default_name: str | None
) -> tuple[VariableScope, str | None]:
    """Return the scope that is entered, and the name scope to open with it."""
    if isinstance(name_or_scope, VariableScope):
        return name_or_scope, name_or_scope.name.split("/")[-1] or None
    if name_or_scope is None:
        if default_name is None:
            raise ValueError("variable_scope needs a name_or_scope or a default_name")
        name_or_scope = _unique(store, outer, default_name)
    name = f"{outer.name}/{name_or_scope}" if outer.name else name_or_scope
    store.opened[name] = store.opened.get(name, 0) + 1
    return replace(outer, name=name), name_or_scope or _same()


def _unique(store: _Store, outer: VariableScope, name: str) -> str:
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


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    **_: Any,
) -> Any:
    """Return the variable `name` of the current scope: a new one, or with reuse the one there.

    Args:
      name: inside the scope.
      shape: of the variable; not needed if `initializer` is a value.
      dtype: of the variable; the scope's by default (float32).
      initializer: a function from shape and dtype to a tensor, or a value; the scope's by
        default, then glorot_uniform for floats, zeros for others.
      regularizer: function from the variable to a loss, which is added to the collection
        REGULARIZATION_LOSSES.
      trainable: whether optimizers change it by default.
      collections: names of collections to add it to.
      caching_device: where the value of a resource variable is kept for its readers.
      partitioner: a function from shape and dtype to the number of parts along each axis, such as
        `tf.fixed_size_partitioner(2)`; the scope's by default, and none for a scalar.
      validate_shape: whether its shape is fixed.
      use_resource: whether it is a resource variable; what the scope says by default.
      custom_getter: called instead of this function, with it as first argument.
      constraint: function from the updated value to the one to keep.

    Returns:
      A Variable, or a `PartitionedVariable` if there is a partitioner.

    Raises:
      ValueError: it exists and reuse is off, or is not there and reuse is on, or exists with
        another shape, dtype or in other parts, or needs a shape.
    """
    scope = get_variable_scope()
    getter: Callable[..., Any] = _get_variable
    for custom in (scope.custom_getter, custom_getter):
        if custom is not None:
            getter = _wrapped(custom, getter)
    full_name = f"{scope.name}/{name}" if scope.name else name
    return getter(
        name=full_name,
        shape=shape,
        dtype=dtype or scope.dtype,
        initializer=scope.initializer if initializer is None else initializer,
        regularizer=scope.regularizer if regularizer is None else regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=scope.caching_device if caching_device is None else caching_device,
        partitioner=scope.partitioner if partitioner is None else partitioner,
        validate_shape=validate_shape,
        use_resource=scope.use_resource if use_resource is None else use_resource,
        constraint=scope.constraint if constraint is None else constraint,
        reuse=scope.reuse,
    )


def _wrapped(custom: Callable[..., Any], getter: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **arguments: custom(getter, **arguments)


def _get_variable(
    name: str, shape: Any, dtype: Any, reuse: Any, partitioner: Any = None, **options: Any
) -> Any:
    store = _store(scopes.get_default_graph().outermost)
    is_scalar = shape is not None and TensorShape(shape).ndims == 0
    if (partitioner is not None and not is_scalar) or (name in store.in_parts and reuse is True):
        return get_in_parts(name, shape, dtype, reuse, partitioner, **options)
    variables = store.variables
    if f"{name}/part_0" in variables:
        raise ValueError(
            "No partitioner was provided, but a partitioned version of the variable was found: "
            f"{name}/part_0, made at {variables[f'{name}/part_0'].op.created_at}"
        )
    found = variables.get(name)
    if found is not None and reuse in (None, False) and reuse is not AUTO_REUSE:
        raise ValueError(
            f"variable {name} already exists, made at {found.op.created_at}; did you mean "
            "reuse=True or reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    if found is not None:
        return _checked(found, shape, dtype)
    if reuse is True:
        near = ", ".join(sorted(variables)) or "none"
        raise ValueError(
            f"variable {name} does not exist, or was not made with tf.get_variable() (those made "
            f"so: {near}); did you mean reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    variables[name] = variable = _new(name, shape, dtypes.as_dtype(dtype), **options)
    return variable


def get_in_parts(
    name: str, shape: Any, dtype: Any, reuse: Any, partitioner: Any, **options: Any
) -> PartitionedVariable:
    """Return the partitioned variable `name`: a new one, or with reuse the one there.

    Args:
      name: its full name.
      shape: as for `get_variable`, and so are the others.
      dtype: of the values.
      reuse: whether to find it.
      partitioner: None to find it whatever its parts are.
      **options: for each part.
    """
    store = _store(scopes.get_default_graph().outermost)
    found = store.in_parts.get(name)
    _check_in_parts(store, name, reuse, partitioner)
    initializer, dtype = options.pop("initializer", None), dtypes.as_dtype(dtype)
    if shape is None and hasattr(initializer, "op"):
        shape = initializer.shape
    if found is not None:
        return found.checked(shape, dtype, partitioner)
    if initializer is None:
        initializer = _default_initializer(dtype)
    plain, partitions = partitioned_by(partitioner, shape, dtype)

    def make(part: str, part_shape: Any, value: Any) -> Any:
        return _get_variable(part, part_shape, dtype, reuse, initializer=value, **options)

    if isinstance(initializer, type):
        initializer = initializer()
    store.in_parts[name] = made_in_parts(name, plain, dtype, partitions, initializer, make)
    return store.in_parts[name]


def _check_in_parts(store: _Store, name: str, reuse: Any, partitioner: Any) -> None:
    """Raise ValueError unless a partitioned variable can be had under this name."""
    if partitioner is not None and not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    if name in store.variables:
        raise ValueError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}, made at {store.variables[name].op.created_at}"
        )
    if name in store.in_parts and reuse in (None, False) and reuse is not AUTO_REUSE:
        raise ValueError(
            f"Partitioned variable with name {name} already exists; did you mean reuse=True or "
            "reuse=tf.AUTO_REUSE in the variable_scope?"
        )
    if name not in store.in_parts and reuse is True:
        near = ", ".join(sorted(store.in_parts)) or "none"
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with "
            f"tf.get_variable() (those made so: {near}); did you mean reuse=tf.AUTO_REUSE?"
        )


def _default_initializer(dtype: Any) -> Any:
    return glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()


def _checked(found: Variable, shape: Any, dtype: Any) -> Variable:
    wanted = TensorShape(shape)
    if shape is not None and not found.shape.is_compatible_with(wanted):
        raise ValueError(
            f"variable {found.op.name} exists with shape {found.shape}, but is asked for with "
            f"{show(wanted.as_tuple())}"
        )
    if found.dtype.base_dtype is not dtypes.as_dtype(dtype).base_dtype and shape is not None:
        raise ValueError(
            f"variable {found.op.name} exists with dtype {found.dtype.base_dtype.name}, but is "
            f"asked for with {dtypes.as_dtype(dtype).name}"
        )
    return found


def _new(
    name: str,
    shape: Any,
    dtype: Any,
    initializer: Any,
    regularizer: Any,
    trainable: Any,
    collections: Any,
    caching_device: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> Variable:
    value = _initial_value(name, shape, dtype, initializer)
    with scopes.name_scope(None):  # the full name is spelled already
        variable = Variable(
            value,
            trainable=trainable,
            collections=collections,
            validate_shape=validate_shape,
            caching_device=caching_device,
            use_resource=use_resource,
            name=name,
            dtype=dtype if callable(value) else None,
            constraint=constraint,
        )
    if regularizer is not None:
        with scopes.colocate_with(variable.op), scopes.name_scope(f"{name}/Regularizer/"):
            loss = regularizer(variable)
        if loss is not None:
            scopes.get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _initial_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    """Return what `Variable` takes: a value, or a function that makes one."""
    if initializer is None:
        initializer = _default_initializer(dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError(f"variable {name}: an initial value has a shape itself; leave it out")
        return initializer
    plain = TensorShape(shape)
    if shape is None or not plain.is_fully_defined():
        raise ValueError(f"variable {name} needs a full shape, got {show(plain.as_tuple())}")
    return lambda: initializer(plain.as_list(), dtype=dtype)


def get_local_variable(name: str, *arguments: Any, **options: Any) -> Any:
    """Do as `get_variable`, for a variable that is local to the task and not trained."""
    options = {"collections": [GraphKeys.LOCAL_VARIABLES], "trainable": False, **options}
    return get_variable(name, *arguments, **options)


def _kind(use_resource: bool | None, variable_def: Any = None) -> type[Variable]:
    """Return the class of a new variable: what the variable scope says, if nobody else does."""
    return kind(get_variable_scope().use_resource if use_resource is None else use_resource,
                variable_def)  # fmt: skip


_KIND.append(_kind)

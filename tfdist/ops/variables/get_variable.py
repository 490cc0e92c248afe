"""get_variable: variables by name, whole or in parts, made once and found again.

Source: TF 1.15 API documentation, tf.get_variable.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tfdist.base import dtypes
from tfdist.base.shapes import show
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import replicas, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.initializers import glorot_uniform_initializer, zeros_initializer
from tfdist.ops.variables.partitioned_variables import (
    PartitionedVariable,
    made_in_parts,
    partitioned_by,
)
from tfdist.ops.variables.synchronization import of_replicas
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import (
    VariableStore,
    get_variable_scope,
    store_of,
    variable_scope,
)

__all__ = ["get_local_variable", "get_variable"]


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
    synchronization: Any = None,
    aggregation: Any = None,
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
      custom_getter: called instead of this function, with it as first argument, and instead of
        the scope's.
      constraint: function from the updated value to the one to keep.
      synchronization: a `tf.VariableSynchronization`; a variable ON_READ is not trained by default.
      aggregation: a `tf.VariableAggregation`.

    Returns:
      A Variable, or a `PartitionedVariable` if there is a partitioner.

    Raises:
      ValueError: it exists and reuse is off, or is not there and reuse is on, or exists with
        another shape, dtype or in other parts, or needs a shape, or `initializer` is a value of
        another type than `dtype`.
    """
    scope = get_variable_scope()
    if dtype is not None and initializer is not None and not callable(initializer):
        _check_type(initializer, dtype)
    custom = custom_getter or scope.custom_getter
    getter = partial(custom, getter=_get_variable) if custom else _get_variable
    full_name = f"{scope.name}/{name}" if scope.name else name
    when, how, is_trained = of_replicas(synchronization, aggregation, trainable, name)
    return getter(
        name=full_name,
        shape=None if shape is None else TensorShape(shape),
        dtype=dtype or scope.dtype,
        initializer=scope.initializer if initializer is None else initializer,
        regularizer=scope.regularizer if regularizer is None else regularizer,
        trainable=is_trained,
        collections=collections,
        caching_device=scope.caching_device if caching_device is None else caching_device,
        partitioner=scope.partitioner if partitioner is None else partitioner,
        validate_shape=validate_shape,
        use_resource=scope.use_resource if use_resource is None else use_resource,
        constraint=scope.constraint if constraint is None else constraint,
        reuse=scope.reuse,
        synchronization=when,
        aggregation=how,
    )


def _check_type(value: Any, dtype: Any) -> None:
    """Raise ValueError unless an initial value is of the type that was asked for."""
    with scopes.name_scope(None):  # makes a node, as in TensorFlow: their number decides on seeds
        found = convert_to_tensor(value).dtype.base_dtype
    if found is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")


def _get_variable(
    name: str, shape: Any, dtype: Any, reuse: Any, partitioner: Any = None, **options: Any
) -> Any:
    if name == "":
        raise ValueError(f"{name!r} is not a valid node name: a variable needs one")
    store = store_of(scopes.get_default_graph().outermost)
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
    if found is not None and not reuse:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at: {found.op.created_at}"
        )
    if found is not None:
        return _checked(found, shape, dtype)
    if reuse is True:
        near = ", ".join(sorted(variables)) or "none"
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable() (created "
            f"so: {near}). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    variables[name] = variable = _new(name, shape, dtypes.as_dtype(dtype), **options)
    return variable


def get_in_parts(
    name: str, shape: Any, dtype: Any, reuse: Any, partitioner: Any, **options: Any
) -> PartitionedVariable:
    """Return the partitioned variable `name`: a new one, or with reuse the one there.

    Args:
      name: its full name.
      shape: as for `get_variable`.
      dtype: of the values.
      reuse: whether to find it.
      partitioner: None to find it whatever its parts are.
      **options: for each part.
    """
    store = store_of(scopes.get_default_graph().outermost)
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


def _check_in_parts(store: VariableStore, name: str, reuse: Any, partitioner: Any) -> None:
    """Raise ValueError unless a partitioned variable can be had under this name."""
    if partitioner is not None and not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    if name in store.variables:
        raise ValueError(
            "A partitioner was provided, but an unpartitioned version of the variable was found: "
            f"{name}, made at {store.variables[name].op.created_at}"
        )
    if name in store.in_parts and not reuse:
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
            f"Trying to share variable {found.op.name}, but specified shape "
            f"{show(wanted.as_tuple())} and found shape {found.shape}."
        )
    if found.dtype.base_dtype is not dtypes.as_dtype(dtype).base_dtype and shape is not None:
        raise ValueError(
            f"Trying to share variable {found.op.name}, but specified dtype "
            f"{dtypes.as_dtype(dtype).name} and found dtype {found.dtype.base_dtype.name}."
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
    synchronization: Any = None,
    aggregation: Any = None,
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
            synchronization=synchronization,
            aggregation=aggregation,
        )
    if regularizer and replicas.is_first():  # which the others share
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
            raise ValueError(
                f"If initializer is a constant, do not specify shape: that of variable {name} is "
                "its initial value's."
            )
        return initializer
    plain = TensorShape(shape)
    if shape is None or not plain.is_fully_defined():
        raise ValueError(
            "The initializer passed is not valid. It should be a callable with no arguments and "
            "the shape should not be provided or an instance of `tf.keras.initializers.*' and "
            f"`shape` should be fully defined. Variable {name} has shape {show(plain.as_tuple())}"
        )
    return lambda: initializer(plain.as_list(), dtype=dtype)


def get_local_variable(name: str, *arguments: Any, **options: Any) -> Any:
    """Do as `get_variable`, for a variable that is local to the task and not trained."""
    options = {"collections": [GraphKeys.LOCAL_VARIABLES], "trainable": False, **options}
    return get_variable(name, *arguments, **options)


def get_in_scope(scope: Any, name: str, *given: Any, **options: Any) -> Any:
    """Return a variable of `scope`; see `get_variable`."""
    with variable_scope(scope, auxiliary_name_scope=False):
        return get_variable(name, *given, **options)

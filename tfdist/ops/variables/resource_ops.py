"""Resource variables as ops: a handle stands for the variable, and each read is a node of its own.

What a read gave stays as it is, whatever is assigned later: `tf.control_dependencies` orders reads
and changes. Changes of rows are in `scatter`.

Source: TF 1.15 API, the ops of tensorflow/core/ops/resource_variable_ops.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType, short_name
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InternalError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfdist.graph.handles import Handled, handled_by
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.array.gather import gather_v2_kernel, gather_v2_shape, rows_of
from tfdist.ops.array.gather_nd import gather_nd_kernel, gather_nd_shape
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.state_ops import descended, require_scalar_rate

__all__: list[str] = []

VAR_HANDLE_OP = OpDef(
    "VarHandleOp() -> resource: resource [container: string = ''; shared_name: string = ''; "
    "dtype: type; shape: shape] !"
).not_differentiable()


@VAR_HANDLE_OP.shape
def var_handle_shape() -> Shape:
    return ()


@VAR_HANDLE_OP.kernel
def var_handle_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    found = ctx.known()
    if found is not None and found.key == (container, shared_name):
        return found
    # without a shared name it is the variable of no name, as in TensorFlow
    name = shared_name.decode()
    return ctx.resource("resource variable", container, name, lambda kind: kind(name, container))


def known_shape(handle: Handled | None, dtype: DType) -> Shape:
    """Return the shape of the variable behind a handle, which must have the type `dtype`."""
    if handle is None:
        return None
    if handle.dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to read variable with wrong dtype. Expected {short_name(handle.dtype)} got "
            f"{short_name(dtype)}"
        )
    return handle.shape


READ_VARIABLE_OP = OpDef("ReadVariableOp(resource: resource) -> value: dtype [dtype: type] !")


@READ_VARIABLE_OP.shape
def read_variable_shape(resource: Shape, *, resource_handle: Handled | None, dtype: DType) -> Shape:
    return known_shape(resource_handle, dtype)


@READ_VARIABLE_OP.kernel
def read_variable_kernel(resource: Any, *, dtype: DType) -> Any:
    value = resource.read()
    if resource.dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to read variable with wrong dtype. Expected {short_name(dtype)} got "
            f"{short_name(resource.dtype)}"
        )
    return value


@READ_VARIABLE_OP.gradient
def read_variable_gradient(op: Any, d_value: Any) -> Any:
    return d_value


ASSIGN_VARIABLE_OP = OpDef(
    "AssignVariableOp(resource: resource, value: dtype) -> () "
    "[dtype: type; validate_shape: bool = False] !",
    keeps_inputs=True,
).not_differentiable()


def same_shape(
    resource: Shape, value: Shape, *, resource_handle: Handled | None, dtype: DType
) -> None:
    shapes.merge(known_shape(resource_handle, dtype), value, "variable and value")


ASSIGN_VARIABLE_OP.shape(same_shape)


@ASSIGN_VARIABLE_OP.kernel
def assign_variable_kernel(
    resource: Any, value: Any, *, dtype: DType, validate_shape: bool
) -> None:
    if resource.dtype is not dtype and resource.dtype is not None:
        raise InvalidArgumentError(
            "Trying to assign variable with wrong dtype. Expected "
            f"{short_name(resource.dtype)} got {short_name(dtype)}"
        )
    old = resource.look() if validate_shape else None  # later versions of TensorFlow ask for that
    if old is not None and np.shape(old) != np.shape(value):
        raise InvalidArgumentError(
            "Trying to assign to variable with tensor with wrong shape. Expected "
            f"{_show(old)} got {_show(value)}"
        )
    resource.assign(value, dtype)


def _update(name: str, function: Any) -> OpDef:
    """Define an op that sets a variable to `function(old, value, out)`."""
    op_def = OpDef(
        f"{name}(resource: resource, value: dtype) -> () [dtype: type] !"
    ).not_differentiable()

    def update_kernel(resource: Any, value: Any) -> None:
        def changed(old: Any, out: Any) -> Any:
            if np.shape(old) != np.shape(value):
                raise InvalidArgumentError(
                    f"Cannot update variable with shape {_show(old)} using a Tensor with shape "
                    f"{_show(value)}, shapes must be equal."
                )
            return function(old, value, out)

        resource.update(changed)

    op_def.shape(same_shape)
    op_def.kernel(update_kernel)
    return op_def


def _show(value: Any) -> str:
    return f"[{','.join(map(str, np.shape(value)))}]"


ASSIGN_ADD_VARIABLE_OP = _update("AssignAddVariableOp", np.add)
ASSIGN_SUB_VARIABLE_OP = _update("AssignSubVariableOp", np.subtract)

VAR_IS_INITIALIZED_OP = OpDef(
    "VarIsInitializedOp(resource: resource) -> is_initialized: bool !"
).not_differentiable()


@VAR_IS_INITIALIZED_OP.shape
def var_is_initialized_shape(resource: Shape) -> Shape:
    return ()


@VAR_IS_INITIALIZED_OP.kernel
def var_is_initialized_kernel(resource: Any) -> Any:
    return np.bool_(resource.look() is not None)


VARIABLE_SHAPE = OpDef(
    "VariableShape(input: resource) -> output: out_type [out_type: type = int32 {index}] !"
).not_differentiable()


@VARIABLE_SHAPE.shape
def variable_shape_shape(input: Shape, *, input_handle: Handled | None) -> Shape:
    dims = input_handle.shape if input_handle else None
    return (None if dims is None else len(dims),)


@VARIABLE_SHAPE.kernel
def variable_shape_kernel(input: Any, *, out_type: DType) -> Any:
    return np.array(np.shape(input.held()), out_type.as_numpy_dtype)


DESTROY_RESOURCE_OP = OpDef(
    "DestroyResourceOp(resource: resource) -> () [ignore_lookup_error: bool = True] !"
).not_differentiable()


@DESTROY_RESOURCE_OP.kernel
def destroy_resource_kernel(resource: Any, *, ignore_lookup_error: bool) -> None:
    if not hasattr(resource, "destroy"):
        raise UnimplementedError(
            f"a {type(resource).__name__} ends with its session or container; only variables can "
            "be destroyed before"
        )
    if not resource.destroy() and not ignore_lookup_error:
        raise NotFoundError(
            f"Resource {resource.container}/{resource.name}/<unknown> does not exist."
        )


# rows and parts


RESOURCE_GATHER = OpDef(
    "ResourceGather(resource: resource, indices: Tindices) -> output: dtype [batch_dims: int = 0; "
    "validate_indices: bool = True; dtype: type; Tindices: type {index}] !"
)


@RESOURCE_GATHER.shape
def resource_gather_shape(
    resource: Shape, indices: Shape, *, resource_handle: Handled | None, dtype: DType,
    batch_dims: int,
) -> Shape:  # fmt: skip
    params = known_shape(resource_handle, dtype)
    axis = np.array(batch_dims)
    return gather_v2_shape(params, indices, (), axis_value=axis, batch_dims=batch_dims)


@RESOURCE_GATHER.kernel
def resource_gather_kernel(resource: Any, indices: Any, *, batch_dims: int) -> Any:
    return gather_v2_kernel(resource.held(), indices, batch_dims, batch_dims=batch_dims)


@RESOURCE_GATHER.gradient
def resource_gather_gradient(op: Any, d_output: Any) -> Any:
    resource, indices = op.inputs
    if op.get_attr("batch_dims"):
        raise LookupError(f"the gradient of {op.name!r} is there without batch dimensions only")
    return rows_of(_dims(resource), indices, d_output), None


def _dims(handle: Any) -> Any:
    """Return the shape of the variable behind a handle as a tensor, a constant if it is known."""
    known = handled_by(handle)
    shape = TensorShape(known.shape if known else None)
    if shape.is_fully_defined():
        value = np.array(shape.as_list(), np.int32)
        return raw.Const(value=value, dtype="int32", name="Const")
    return raw.VariableShape(handle)


RESOURCE_GATHER_ND = OpDef(
    "ResourceGatherNd(resource: resource, indices: Tindices) -> output: dtype [dtype: type; "
    "Tindices: type {index}] !"
)


@RESOURCE_GATHER_ND.shape
def resource_gather_nd_shape(
    resource: Shape, indices: Shape, *, resource_handle: Handled | None, dtype: DType
) -> Shape:
    return gather_nd_shape(known_shape(resource_handle, dtype), indices)


@RESOURCE_GATHER_ND.kernel
def resource_gather_nd_kernel(resource: Any, indices: Any) -> Any:
    return gather_nd_kernel(np.asarray(resource.held()), indices)


@RESOURCE_GATHER_ND.gradient
def resource_gather_nd_gradient(op: Any, d_output: Any) -> Any:
    resource, indices = op.inputs
    dims = raw.VariableShape(resource, out_type=indices.dtype)
    if indices.plain_shape and indices.plain_shape[-1] == 1:
        rows = raw.Squeeze(indices, squeeze_dims=[-1])
        return IndexedSlices(d_output, rows, dims), None
    return raw.ScatterNd(indices, d_output, dims), None


# optimizers

RESOURCE_APPLY_GRADIENT_DESCENT = OpDef(
    "ResourceApplyGradientDescent(var: resource, alpha: T, delta: T) -> () [T: type {numeric}; "
    "use_locking: bool = False] !"
).not_differentiable()


@RESOURCE_APPLY_GRADIENT_DESCENT.shape
def resource_apply_gradient_descent_shape(
    var: Shape, alpha: Shape, delta: Shape, *, var_handle: Handled | None
) -> None:
    shapes.require_rank(alpha, "alpha", 0)
    shapes.merge(var_handle.shape if var_handle else None, delta, "variable and gradient")


@RESOURCE_APPLY_GRADIENT_DESCENT.kernel
def resource_apply_gradient_descent_kernel(var: Any, alpha: Any, delta: Any) -> None:
    if var.look() is None:
        raise InternalError("Invalid variable reference.")
    require_scalar_rate(alpha)

    def changed(old: Any, out: Any) -> Any:
        if np.shape(old) != np.shape(delta):
            raise InvalidArgumentError(
                f"var and delta do not have the same shape{_show(old)} {_show(delta)}"
            )
        return descended(var.share, old, out, alpha, delta)

    var.update(changed)

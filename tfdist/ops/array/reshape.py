"""The same elements in another shape: reshape, expand_dims, squeeze."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Dim, Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Known, OpDef, hand_on, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements, partial_shape

__all__ = ["expand_dims", "reshape", "squeeze"]

RESHAPE = OpDef(
    "Reshape(tensor: T, shape: Tshape) -> output: T [T: type; Tshape: type = int32 {index}]"
)


@RESHAPE.shape
def reshape_shape(tensor: Shape, shape: Shape, *, shape_value: Any) -> Shape:
    shapes.require_rank(shape, "shape", 1)
    if shape_value is not None:
        return reshaped(tensor, shapes.from_constant(shape_value))
    return None if shape is None or shape[0] is None else (None,) * shape[0]


def reshaped(source: Shape, target: Shape) -> Shape:
    """Return `target` with its one unknown dimension inferred from the elements of `source`."""
    count = shapes.num_elements(source)
    if target is None or count is None or target.count(None) > 1:
        _check_parts(source, target)
        return target
    others = shapes.num_elements(tuple(dim for dim in target if dim is not None)) or 0
    if None not in target and others != count:
        raise InvalidArgumentError(
            f"Cannot reshape a tensor with {count} elements to shape {shapes.brackets(target)} "
            f"({others} elements)"
        )
    if None in target and others and count % others:
        raise InvalidArgumentError(
            f"Dimension size must be evenly divisible by {others} but is {count}"
        )
    return tuple(dim if dim is not None else count // others if others else None for dim in target)


def _check_parts(source: Shape, target: Shape) -> None:
    """Raise InvalidArgumentError if a full shape has no room for the dimensions that are known."""
    wanted = shapes.num_elements(target)
    if source is None or wanted is None:
        return
    known = math.prod(dim for dim in source if dim is not None)
    if known and wanted % known:
        raise InvalidArgumentError(
            f"Dimension size must be evenly divisible by {known} but is {wanted}"
        )


@RESHAPE.kernel
def reshape_kernel(tensor: Any, shape: Any) -> Any:
    if shape.ndim != 1:
        raise InvalidArgumentError(f"sizes input must be 1-D, not {list(shape.shape)}")
    try:
        return as_elements(tensor).reshape(shape.tolist())
    except (ValueError, TypeError):
        if 0 in np.shape(tensor) and 0 in shape and (np.equal(shape, -1)).sum() == 1:
            return _reshaped_without_elements(tensor, shape)
        raise InvalidArgumentError(_misfit(tensor, np.asarray(shape).tolist())) from None


def _misfit(tensor: Any, sizes: list[int]) -> str:
    """Return why a tensor does not take a shape."""
    open_ = [place for place, size in enumerate(sizes) if size == -1]
    if len(open_) > 1:
        return f"Only one input size may be -1, not both {open_[0]} and {open_[1]}"
    for place, size in enumerate(sizes):
        if size < -1:
            return f"Size {place} must be non-negative, not {size}"
    wanted = math.prod(size for size in sizes if size != -1)
    rest = f"requires a multiple of {wanted}" if open_ else f"has {wanted}"
    given = f"{np.size(tensor)} values, of shape {list(np.shape(tensor))}"
    return (
        f"Input to reshape is a tensor with {np.size(tensor)} values, but the requested shape "
        f"{rest}: {given} to {sizes}"
    )


def _reshaped_without_elements(tensor: Any, shape: Any) -> Any:
    """Return `tensor`, which has no elements, in a shape of which 0 and -1 are dimensions.

    As in TensorFlow the one that is not told is inferred as if no dimension were 0.
    """
    source = math.prod(dim for dim in tensor.shape if dim)
    others = math.prod(int(dim) for dim in shape if dim > 0)
    if source % others:
        raise InvalidArgumentError(
            f"cannot reshape a tensor of shape {tensor.shape} to {np.asarray(shape).tolist()}: "
            f"{source} is not a multiple of {others}"
        )
    return tensor.reshape([source // others if dim == -1 else int(dim) for dim in shape])


@RESHAPE.specialize
def reshape_specialized(known: Known) -> Any:
    """Return what turns elements of a known shape into another one that is known to fit."""
    source, target = known.shapes[0], known.values[1]
    if source is None or None in source or target is None:
        return None
    shape = reshaped(source, shapes.from_constant(target))
    if shape == source:
        return hand_on
    if not source or shape is None or None in shape:
        return None
    return lambda tensor, _: tensor.reshape(shape)


@RESHAPE.gradient
def reshape_gradient(op: Any, d_output: Any) -> Any:
    return reshape(d_output, shape(op.inputs[0])), None


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return the elements of `tensor` in another shape, in the same order.

    Args:
      tensor: any shape.
      shape: integers, one of which may be -1: that dimension follows from the others.
      name: of the node.

    Raises:
      ValueError: the number of elements would change (InvalidArgumentError if that shows only
        when it runs).

    Example:
      >>> Session().run(reshape([1, 2, 3, 4, 5, 6], [2, -1]))
      array([[1, 2, 3],
             [4, 5, 6]], dtype=int32)
    """
    result: Tensor = raw.Reshape(tensor, shape, name=name)
    known = result.plain_shape
    if known is None or None in known:
        source, target = result.op.inputs
        result.set_shape(reshaped(source.plain_shape, partial_shape(target)))
    return result


EXPAND_DIMS = OpDef(
    "ExpandDims(input: T, dim: Tdim) -> output: T [T: type; Tdim: type = int32 {index}]"
)


@EXPAND_DIMS.shape
def expand_dims_shape(input: Shape, dim: Shape, *, dim_value: Any) -> Shape:
    if dim_value is not None and dim_value.size != 1:
        raise InvalidArgumentError("'dim' input must be a tensor with a single value")
    if input is None:
        return None
    if dim_value is None:
        return (None,) * (len(input) + 1)
    axis, rank = int(dim_value.item()), len(input) + 1
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"dim {axis} not in the interval [{-rank}, {rank - 1}].")
    axis %= rank
    return (*input[:axis], 1, *input[axis:])


@EXPAND_DIMS.kernel
def expand_dims_kernel(input: Any, dim: Any) -> Any:
    input = as_elements(input)
    axis, rank = int(dim.item()), input.ndim + 1
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"Tried to expand dim index {axis} for tensor with {input.ndim} dimensions."
        )
    axis %= rank
    return input.reshape((*input.shape[:axis], 1, *input.shape[axis:]))


@EXPAND_DIMS.specialize
def expand_dims_specialized(known: Known) -> Any:
    """Return what gives elements of a known shape one axis more."""
    source, dim = known.shapes[0], known.values[1]
    if not source or None in source or dim is None or not -len(source) - 1 <= dim <= len(source):
        return None
    made = expand_dims_shape(source, (), dim_value=dim)
    return lambda input, _: input.reshape(made)


@EXPAND_DIMS.gradient
def expand_dims_gradient(op: Any, d_output: Any) -> Any:
    return reshape(d_output, shape(op.inputs[0])), None


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Return `input` with a new axis of length 1.

    Args:
      input: [d0, ..., dn].
      axis: where the new axis will stand, in [-n - 2, n + 1]; the old name is `dim`.
      name: of the node.
      dim: see `axis`.

    Example:
      >>> Session().run(expand_dims([1, 2], -1))
      array([[1],
             [2]], dtype=int32)
    """
    if axis is None and dim is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    result: Tensor = raw.ExpandDims(input, one_of(dim=dim, axis=axis), name=name)
    return result


def one_of(**choices: Any) -> Any:
    """Return the argument that was given of several names for it; ValueError if it was not one."""
    given = {name: value for name, value in choices.items() if value is not None}
    if len(given) > 1:
        raise ValueError(f"Cannot specify both {' and '.join(repr(name) for name in given)}")
    if not given:
        raise ValueError(f"Must specify one of {', '.join(repr(name) for name in choices)}")
    return next(iter(given.values()))


SQUEEZE = OpDef("Squeeze(input: T) -> output: T [T: type; squeeze_dims: list(int) = [] >=0]")


@SQUEEZE.shape
def squeeze_shape(input: Shape, *, squeeze_dims: list[int]) -> Shape:
    if input is None or (not squeeze_dims and None in input):
        return None
    rank = len(input)
    for place, axis in enumerate(squeeze_dims):
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"squeeze_dims[{place}] not in [{-rank},{rank}).")
    axes = {axis % rank for axis in squeeze_dims}
    _check_ones(input, axes)
    return tuple(
        dim for i, dim in enumerate(input) if (i not in axes if squeeze_dims else dim != 1)
    )


def _check_ones(dims: tuple[Dim, ...], axes: set[int]) -> None:
    for axis in axes:
        if dims[axis] not in (1, None):
            raise InvalidArgumentError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}"
            )


@SQUEEZE.kernel
def squeeze_kernel(input: Any, *, squeeze_dims: list[int]) -> Any:
    input = as_elements(input)
    for axis in squeeze_dims:
        if not -input.ndim <= axis < input.ndim:
            raise InvalidArgumentError(
                f"Tried to squeeze dim index {axis} for tensor with {input.ndim} dimensions."
            )
    return input.reshape(squeeze_shape(input.shape, squeeze_dims=squeeze_dims))


@SQUEEZE.specialize
def squeeze_specialized(known: Known) -> Any:
    """Return what takes axes of length 1 from elements of a known shape."""
    (source,) = known.shapes
    if not source or None in source:
        return None
    made = squeeze_shape(source, squeeze_dims=known.attrs["squeeze_dims"])
    return lambda input: input.reshape(made)


@SQUEEZE.gradient
def squeeze_gradient(op: Any, d_output: Any) -> Any:
    return reshape(d_output, shape(op.inputs[0]))


def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """Return `input` without axes of length 1.

    Args:
      input: any shape.
      axis: which ones to remove, an int or a list; by default all that have length 1. The old
        name is `squeeze_dims`.
      name: of the node.
      squeeze_dims: see `axis`.

    Raises:
      ValueError: an axis to remove is longer than 1.

    Example:
      >>> Session().run(squeeze([[1], [2]]))
      array([1, 2], dtype=int32)
    """
    if axis is not None and squeeze_dims is not None:
        raise ValueError("Cannot specify both 'squeeze_dims' and 'axis'")
    axes = squeeze_dims if axis is None else axis
    axes = [] if axes is None else [axes] if np.ndim(axes) == 0 else list(axes)
    result: Tensor = raw.Squeeze(input, squeeze_dims=axes, name=name)
    return result

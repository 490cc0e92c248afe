"""Sorting along an axis, places in what is sorted, and the n-th element."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.top_k import TOP_K_V2

__all__ = ["argsort", "searchsorted", "sort"]


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """Return `values` sorted along an axis.

    Args:
      values: numbers of rank 1 or more; of types that have a negative, if they are to ascend.
      axis: a constant.
      direction: "ASCENDING" or "DESCENDING".
      name: prefix for the nodes.

    Raises:
      ValueError: there is no such axis or direction.

    Example:
      >>> Session().run(sort([[3, 1, 2], [7, 9, 8]], direction="DESCENDING"))
      array([[3, 2, 1],
             [9, 8, 7]], dtype=int32)
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, 0)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return where each of the elements stands that `sort` gives.

    Args:
      values: see `sort`.
      axis: see `sort`.
      direction: see `sort`.
      stable: taken and not needed: of equal elements the first always comes first.
      name: prefix for the nodes.

    Raises:
      ValueError: there is no such axis or direction.

    Example:
      >>> Session().run(argsort([30, 10, 20]))
      array([1, 2, 0], dtype=int32)
    """
    del stable
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, 1)


def _sorted(values: Any, axis: Any, direction: str, output: int) -> Tensor:
    """Return the elements (output 0) or places (1) that TopKV2 gives when it takes all."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    place = constant_value(convert_to_tensor(axis, name="axis"))
    if place is None or place.ndim:
        raise ValueError(f"axis must be a constant of rank 0, got {axis!r}")
    axis = int(place)
    tensor = convert_to_tensor(values, name="values")
    if tensor.plain_shape is not None:
        _check_axis(axis, len(tensor.plain_shape))
    ascends = direction == "ASCENDING"
    if ascends:
        tensor = raw.Neg(tensor)
    found: Tensor = _ranked(tensor, axis, output)
    return raw.Neg(found) if ascends and not output else found  # type: ignore[no-any-return]


def _check_axis(axis: int, count: int) -> None:
    if not -count <= axis < count:
        raise ValueError(f"axis must be in [{-count}, {count}), got {axis}")


def _ranked(tensor: Tensor, axis: int, output: int) -> Tensor:
    sizes: Any = shape(tensor)
    count = sizes[axis]
    last = rank(tensor)
    known = tensor.plain_shape
    if axis == -1 or (known is not None and axis + 1 == len(known)):
        return TOP_K_V2(tensor, count)[output]  # type: ignore[no-any-return]
    order = _swapped(axis, last, known)
    found = TOP_K_V2(transpose(tensor, order), count)[output]
    return transpose(found, order)


def _swapped(axis: int, count: Any, known: Shape) -> Tensor:
    """Return the order of the axes in which that axis and the last one have changed places."""
    if known is not None:
        order = list(range(len(known)))
        order[axis], order[-1] = order[-1], order[axis]
        return convert_to_tensor(order, "int32", name="transposition")
    place = axis if axis >= 0 else count + axis
    middle = raw.Range(place + 1, count - 1, 1)
    return concat([raw.Range(0, place, 1), [count - 1], middle, [place]], 0)


NTH_ELEMENT = OpDef(
    "NthElement(input: T, n: int32) -> values: T [reverse: bool = False; T: type {real}]"
)


@NTH_ELEMENT.shape
def nth_element_shape(input: Shape, n: Shape, *, n_value: Any) -> Shape:
    shapes.require_rank(n, "n", 0)
    shapes.require_rank(input, "input", 1, 99)
    if n_value is not None and n_value < 0:
        raise InvalidArgumentError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {n_value}"
        )
    if n_value is not None and input is not None and input[-1] is not None:
        if input[-1] <= n_value:
            raise InvalidArgumentError(
                f"Input must have last dimension > n = {n_value} but is {input[-1]}"
            )
    return None if input is None else input[:-1]


@NTH_ELEMENT.kernel
def nth_element_kernel(input: Any, n: Any, *, reverse: bool) -> Any:
    size, place = input.shape[-1], int(n)
    if not 0 <= place < size:
        raise InvalidArgumentError(f"n must be in [0, {size}), the size of the last axis; got {n}")
    place = size - 1 - place if reverse else place
    return np.partition(input, place, axis=-1)[..., place]


@NTH_ELEMENT.gradient
def nth_element_gradient(op: Any, d_values: Any) -> Any:
    """Return the gradient shared out among all elements that are equal to the n-th."""
    found = raw.ExpandDims(op.outputs[0], -1)
    hit = raw.Cast(raw.Equal(found, op.inputs[0]), DstT=d_values.dtype.base_dtype)
    number = raw.ExpandDims(raw.Sum(hit, -1), -1)
    return raw.Mul(raw.RealDiv(hit, number), raw.ExpandDims(d_values, -1)), None


def _bound(name: str, side: Any) -> OpDef:
    """Define an op that tells where values belong in each row of what is sorted."""
    op_def = OpDef(
        f"{name}(sorted_inputs: T, values: T) -> output: out_type "
        "[T: type; out_type: type = int32 {index}]"
    ).not_differentiable()

    @op_def.shape
    def bound_shape(sorted_inputs: Shape, values: Shape) -> Shape:
        for each, what in ((sorted_inputs, "sorted_inputs"), (values, "values")):
            shapes.require_rank(each, what, 2)
        if sorted_inputs is not None and values is not None:
            shapes.merge_dim(sorted_inputs[0], values[0], "the rows of both")
        return values

    @op_def.kernel
    def bound_kernel(sorted_inputs: Any, values: Any, *, out_type: dtypes.DType) -> Any:
        bound_shape(sorted_inputs.shape, values.shape)
        found = [
            np.searchsorted(row, each, side)
            for row, each in zip(sorted_inputs, values, strict=True)
        ]
        return np.array(found, out_type.as_numpy_dtype).reshape(values.shape)

    return op_def


LOWER_BOUND, UPPER_BOUND = _bound("LowerBound", "left"), _bound("UpperBound", "right")


def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return for each of `values` how many elements of its row come before it.

    Args:
      sorted_sequence: [..., columns], each row ascending.
      values: [..., values] of the same type, with the same rows.
      side: whether elements equal to a value come after it ("left") or before it ("right").
      out_type: int32 or int64.
      name: of the node.

    Raises:
      ValueError: `side` is something else.

    Example:
      >>> Session().run(searchsorted([[0, 3, 9, 9]], [[3, 10, 9]]))
      array([[1, 4, 2]], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    of_rows: Any = shape(sorted_sequence)
    columns = of_rows[-1]
    of_values: Any = shape(values)
    counts = of_values[-1]
    rows, wanted = reshape(sorted_sequence, [-1, columns]), reshape(values, [-1, counts])
    op_def = LOWER_BOUND if side == "left" else UPPER_BOUND
    return reshape(op_def(rows, wanted, out_type=out_type, name=name), shape(values))

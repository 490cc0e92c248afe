"""Reductions over axes: sums, means, products, extremes, logic.

All share one signature: input, the axes (an integer or a vector), `keep_dims`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.autodiff.gradient_utils import conjugate, known_count, shape_of
from tfdist.ops.math import reduction_kernels as kernels
from tfdist.ops.math.reduction_kernels import MANY, plain_total

__all__ = [
    "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_max", "reduce_mean", "reduce_min",
    "reduce_prod", "reduce_sum",
]  # fmt: skip


def reduction(name: str, types: str, kernel: Callable[..., Any]) -> OpDef:
    """Define a reduction.

    Args:
      name: of the op.
      types: of the input, "" for bool.
      kernel: takes an array, `axis` (int or tuple) and `keepdims`.
    """
    dtype, attr = ("T", f"T: type {{{types}}}; ") if types else ("bool", "")
    op_def = OpDef(
        f"{name}(input: {dtype}, reduction_indices: Tidx) -> output: {dtype} "
        f"[keep_dims: bool = False; {attr}Tidx: type = int32 {{index}}]"
    )
    op_def.shape(reduction_shape)

    @op_def.kernel
    def reduce_kernel(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
        return kernel(input, _axis(reduction_indices), keep_dims)

    return op_def


def _axis(indices: Any) -> int | tuple[int, ...]:
    """Return axes as NumPy takes them: each at most once."""
    axes = indices.reshape(-1).tolist() if indices.ndim > 1 else indices.tolist()
    return axes if type(axes) is int else tuple(dict.fromkeys(axes))


def _checked_axis(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"Invalid reduction dimension {axis} for input with {rank} dimensions."
        )
    return axis % rank


def reduction_shape(
    input: Shape, reduction_indices: Shape, *, keep_dims: bool, reduction_indices_value: Any
) -> Shape:
    """Return the shape of a reduction of `input`; the axes may be unknown."""
    if input is None:
        return None
    if reduction_indices_value is None:
        return (None,) * len(input) if keep_dims else None
    indices = np.atleast_1d(reduction_indices_value).tolist()
    gone = {_checked_axis(axis, len(input)) for axis in indices}
    if keep_dims:
        return tuple(1 if axis in gone else dim for axis, dim in enumerate(input))
    return tuple(dim for axis, dim in enumerate(input) if axis not in gone)


SUM = reduction("Sum", "numeric", kernels.summed)


@SUM.specialize
def sum_specialized(known: Known) -> Any:
    """Return the sum over known axes; `summed` takes a way round for what is narrow."""
    axes, keep = known.values[1], known.attrs["keep_dims"]
    if known.dtypes[0] not in (dtypes.float32, dtypes.float64) or axes is None:
        return None
    axis, total = _axis(axes), np.add.reduce  # without what `sum` does before it
    return lambda input, _: (
        plain_total(input, axis, keep) if input.size > MANY else total(input, axis, keepdims=keep)
    )


MEAN = reduction("Mean", "numeric", kernels.mean)
PROD = reduction("Prod", "numeric", kernels.product)
MAX = reduction("Max", "real", kernels.maximum)
MIN = reduction("Min", "real", kernels.minimum)
EUCLIDEAN_NORM = reduction("EuclideanNorm", "numeric", kernels.euclidean_norm)
ALL = reduction("All", "", lambda input, axis, keepdims: input.all(axis=axis, keepdims=keepdims))
ANY = reduction("Any", "", lambda input, axis, keepdims: input.any(axis=axis, keepdims=keepdims))
ALL.not_differentiable()
ANY.not_differentiable()


def _axes(op: Any) -> list[int] | None:
    """Return the axes, counted from the front; None if they or the rank are not known."""
    shape, value = op.inputs[0].plain_shape, constant_value(op.inputs[1])
    if shape is None or value is None:
        return None
    return sorted({axis % len(shape) for axis in np.atleast_1d(value).tolist()}) if shape else []


def kept_shape(op: Any) -> Any:
    """Return the shape of the result of a reduction as if `keep_dims` were set.

    An array if at most one dimension is unknown (-1 then), else a tensor.
    """
    shape, axes = op.inputs[0].plain_shape, _axes(op)
    if axes is not None:
        dims = [1 if axis in axes else dim for axis, dim in enumerate(shape)]
        if dims.count(None) <= 1:
            return np.array([-1 if dim is None else dim for dim in dims], np.int32)
    return kept_dynamic(raw.Shape(op.inputs[0]), op.inputs[1])


def kept_dynamic(shape: Tensor, axes: Tensor) -> Tensor:
    """Return `shape` with 1 at `axes`."""
    rank = raw.Size(shape)
    axes = raw.Reshape(raw.Cast(axes, DstT=dtypes.int32), [-1])
    axes = raw.FloorMod(raw.AddV2(axes, rank, name="add"), rank, name="mod")
    marks = raw.OneHot(axes, rank, 1, 0, axis=-1)
    return raw.Select(raw.Cast(raw.Max(marks, 0), DstT=dtypes.bool_), raw.OnesLike(shape), shape)


def _spread(op: Any, gradient: Any) -> Any:
    """Return `gradient` of a reduction's result, repeated along the axes that it lost."""
    if not op.get_attr("keep_dims"):
        gradient = raw.Reshape(gradient, kept_shape(op))
    return raw.BroadcastTo(gradient, shape_of(op.inputs[0]))


@SUM.gradient
def sum_gradient(op: Any, d_output: Any) -> Any:
    return _spread(op, d_output), None


@MEAN.gradient
def mean_gradient(op: Any, d_output: Any) -> Any:
    whole, part = known_count(op.inputs[0]), known_count(op.outputs[0])
    if whole is not None and part is not None:
        count: Any = whole // max(part, 1)
    else:
        sizes = raw.Size(op.inputs[0]), raw.Size(op.outputs[0])
        factor = raw.FloorDiv(sizes[0], raw.Maximum(sizes[1], 1), name="floordiv")
        count = raw.Cast(factor, DstT=d_output.dtype.base_dtype)
    # divided before it is repeated: the small array
    return _spread(op, raw.RealDiv(d_output, count, name="truediv")), None


def _extreme_gradient(op: Any, d_output: Any) -> Any:
    """Return the gradient divided evenly among the elements that are the extreme one."""
    x, axes = op.inputs
    y = op.outputs[0]
    if not op.get_attr("keep_dims"):
        shape = kept_shape(op)
        y, d_output = raw.Reshape(y, shape), raw.Reshape(d_output, shape)
    chosen = raw.Cast(raw.Equal(y, x), DstT=d_output.dtype.base_dtype)
    count = raw.Sum(chosen, axes, keep_dims=True)
    return raw.Mul(chosen, raw.RealDiv(d_output, count, name="truediv"), name="mul"), None


MAX.gradient(_extreme_gradient)
MIN.gradient(_extreme_gradient)


@EUCLIDEAN_NORM.gradient
def euclidean_norm_gradient(op: Any, d_output: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    scaled = raw.RealDiv(d_output, y, name="truediv")
    return raw.Mul(x, _spread(op, scaled), name="mul"), None


@PROD.gradient
def prod_gradient(op: Any, d_output: Any) -> Any:
    """Return the product of all other elements, times the gradient; right for zeros too."""
    x, axes = op.inputs[0], _axes(op)
    spread = _spread(op, d_output)
    if axes is None:  # rank or axes unknown: the quotient, which zeros spoil
        product = _spread(op, op.outputs[0])
        return raw.Mul(spread, conjugate(raw.RealDiv(product, x, name="truediv")), name="mul"), None
    rest = [axis for axis in range(len(x.plain_shape)) if axis not in axes]
    order = axes + rest
    turned = raw.Transpose(x, np.array(order, np.int32))
    lead = raw.Size(x) if not rest else _leading_size(turned, len(axes))
    rows = raw.Reshape(turned, raw.Pack([lead, -1], axis=0))
    before = raw.Cumprod(rows, 0, exclusive=True)
    after = raw.Cumprod(rows, 0, exclusive=True, reverse=True)
    others = raw.Reshape(raw.Mul(before, after, name="mul"), raw.Shape(turned))
    back = raw.Transpose(others, np.argsort(order).astype(np.int32))
    return raw.Mul(spread, conjugate(back), name="mul"), None


def _leading_size(tensor: Tensor, count: int) -> Tensor:
    """Return the product of the first `count` dimensions."""
    return raw.Prod(raw.Slice(raw.Shape(tensor), [0], [count]), 0)


def add_reduction(
    op_def: OpDef, input: Any, axis: Any, keepdims: Any, name: str | None, **old: Any
) -> Tensor:
    """Add a node that reduces `input`; `old` are the arguments' former spellings."""
    if old["reduction_indices"] is not None:
        if axis is not None:
            raise ValueError("axis and reduction_indices are two spellings of one: give one")
        axis = old["reduction_indices"]
    if old["keep_dims"] is not None:
        if keepdims is not None:
            raise ValueError("keepdims and keep_dims are two spellings of one: give one")
        keepdims = old["keep_dims"]
    whole = axis is None
    if whole:
        axis = _all_axes(input)
    tensor: Tensor = op_def(input, axis, keep_dims=bool(keepdims), name=name)
    if whole and not keepdims:
        tensor.set_shape(())  # known even where the rank of the input is not
    return tensor


def _all_axes(input: Any) -> Tensor:
    """Return all axes: a constant if `input` is a tensor whose rank is known."""
    if not isinstance(input, Tensor):
        return _axes_of_other(input)
    shape = input.plain_shape
    if shape is None:
        return raw.Range(0, raw.Rank(input), 1, name="range")  # type: ignore[no-any-return]
    axes = np.arange(len(shape), dtype=np.int32)
    return raw.Const(value=axes, dtype=dtypes.int32, name="Const")  # type: ignore[no-any-return]


def _axes_of_other(input: Any) -> Tensor:
    """Return all its axes by the nodes that TensorFlow makes, which the seeds of later ops count.

    It does not look at what is known of a variable or a number, and reads or converts these.
    """
    with scopes.name_scope("Rank") as scope:
        tensor = (
            input._as_tensor(False) if hasattr(input, "_as_tensor") else convert_to_tensor(input)
        )
    shape = tensor.plain_shape
    if shape is None:
        rank = raw.Rank(tensor, name=scope)
    else:
        rank = raw.Const(value=np.int32(len(shape)), dtype=dtypes.int32, name=scope)
    return raw.Range(0, rank, 1, name="range")  # type: ignore[no-any-return]


def _public(
    public: str, op_def: OpDef, meaning: str, argument: str, result: str
) -> Callable[..., Tensor]:
    """Return the public function of a reduction.

    Args:
      public: its name.
      op_def: the op.
      meaning: what it gives.
      argument: of an example, with axis 1.
      result: of that example, as Python prints it.
    """

    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        old = {"reduction_indices": reduction_indices, "keep_dims": keep_dims}
        return add_reduction(op_def, input_tensor, axis, keepdims, name, **old)

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {meaning} of the elements along axes.

    Args:
      input_tensor: a tensor, or anything that converts to one, such as a list of tensors.
      axis: an integer or several, counted from the end if negative; None for all axes.
      keepdims: whether the reduced axes stay, with size 1.
      name: of the node.
      reduction_indices: the old spelling of axis.
      keep_dims: the old spelling of keepdims.

    Raises:
      TypeError: the op is not defined for the type of the input.
      ValueError: an axis is out of range.

    Example:
      >>> Session().run({public}({argument}, axis=1))
      {result}
    """
    return function


reduce_sum = _public(
    "reduce_sum", SUM, "the sum", "[[1, 2, 3], [4, 5, 6]]", "array([ 6, 15], dtype=int32)"
)
reduce_mean = _public(
    "reduce_mean",
    MEAN,
    "the mean (rounded towards 0 for integers)",
    "[[1.0, 2.0], [4.0, 5.0]]",
    "array([1.5, 4.5], dtype=float32)",
)
reduce_prod = _public(
    "reduce_prod", PROD, "the product", "[[1, 2, 3], [4, 5, 6]]", "array([  6, 120], dtype=int32)"
)
reduce_max = _public(
    "reduce_max", MAX, "the greatest", "[[1, 5, 3], [4, 2, 6]]", "array([5, 6], dtype=int32)"
)
reduce_min = _public(
    "reduce_min", MIN, "the least", "[[1, 5, 3], [4, 2, 6]]", "array([1, 2], dtype=int32)"
)
reduce_all = _public("reduce_all", ALL, "whether all are true", "[[True, False]]", "array([False])")
reduce_any = _public("reduce_any", ANY, "whether any is true", "[[True, False]]", "array([ True])")
reduce_euclidean_norm = _public(
    "reduce_euclidean_norm",
    EUCLIDEAN_NORM,
    "the root of the sum of squares",
    "[[3.0, 4.0]]",
    "array([5.], dtype=float32)",
)

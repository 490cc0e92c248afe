"""An einsum as products of matrices, with the nodes that TensorFlow 1.15 makes for it.

Two inputs at a time, from the left. Axes that both have and nobody needs later are summed over: if
there are any, both become (batches of) matrices that are multiplied; else they are multiplied
elementwise. In both, axes of a kind stand in the order of their letters.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tfdist.base.aliases import TensorLike
from tfdist.graph.operation import Tensor
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.math.arithmetic import multiply
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_sum

Sizes = list[TensorLike]  # a number where it is known, else a tensor


def sum_of_products(labels: Sequence[str], output: str, tensors: Sequence[Tensor]) -> Tensor:
    """Return an einsum.

    Args:
      labels: of the axes of each tensor.
      output: labels of the result.
      tensors: of known rank.
    """
    result, axes = tensors[0], labels[0]
    for i in range(1, len(tensors)):
        needed = set(output).union(*labels[i + 1 :])
        result, axes = _of_two(result, axes, tensors[i], labels[i], needed)
    dropped = [i for i, label in enumerate(axes) if label not in output]
    if dropped:
        result = reduce_sum(result, dropped)
        axes = "".join(label for label in axes if label in output)
    return _in_order(result, axes, output)


def _of_two(
    a: Tensor, a_axes: str, b: Tensor, b_axes: str, needed: Collection[str]
) -> tuple[Tensor, str]:
    """Return the product of two tensors, and the labels of its axes."""
    shared = sorted(set(a_axes) & set(b_axes))
    kept = "".join(label for label in shared if label in needed)
    summed = "".join(label for label in shared if label not in needed)
    of_a, of_b = ("".join(sorted(set(axes) - set(shared))) for axes in (a_axes, b_axes))
    a = _in_order(a, a_axes, kept + of_a + summed)
    b = _in_order(b, b_axes, kept + summed + of_b)
    axes = kept + of_a + of_b
    if not summed:
        return _elementwise(a, b, len(kept), len(of_a), len(of_b)), axes
    return _multiplied(a, b, len(kept), len(of_a), len(summed)), axes


def _in_order(tensor: Tensor, axes: str, wanted: str) -> Tensor:
    return tensor if axes == wanted else transpose(tensor, [axes.index(each) for each in wanted])


def _elementwise(a: Tensor, b: Tensor, kept: int, of_a: int, of_b: int) -> Tensor:
    for _ in range(of_b):
        a = expand_dims(a, -1)
    for _ in range(of_a):
        b = expand_dims(b, kept)
    return multiply(a, b)


def _multiplied(a: Tensor, b: Tensor, kept: int, of_a: int, summed: int) -> Tensor:
    """Return batches of matrix products: axes of a kind become one, and apart again."""
    a_sizes = _sizes(a)
    batch, outer = a_sizes[:kept], a_sizes[kept : kept + of_a]
    rows, inner = _product(outer), _product(a_sizes[kept + of_a :])
    a = _reshaped(a, [*batch, rows, inner])
    b_sizes = _sizes(b)
    columns = b_sizes[kept + summed :]
    b = _reshaped(b, [*b_sizes[:kept], inner, _product(columns)])
    return _reshaped(matmul(a, b), [*batch, *outer, *columns])


def _sizes(tensor: Tensor) -> Sizes:
    known = list(tensor.plain_shape or ())
    if None not in known:
        return known
    told: TensorLike = shape(tensor)
    return [told[i] if size is None else size for i, size in enumerate(known)]


def _product(sizes: Sizes) -> TensorLike:
    product: TensorLike = 1
    for size in sizes:
        product = product * size
    return product


def _reshaped(tensor: Tensor, sizes: Sizes) -> Tensor:
    is_so = not any(isinstance(size, Tensor) for size in sizes)
    return tensor if is_so and sizes == list(tensor.plain_shape or ()) else reshape(tensor, sizes)

"""Sums of products, as an equation of labelled axes says them: einsum.

An equation as "bij,bjk->bik" gives a letter to each axis of each input and of the output. What is
not in the output is summed over; axes of one letter have one size.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.autodiff.gradient_utils import conjugate, shape_of
from tfdist.ops.linalg.einsum_products import sum_of_products
from tfdist.ops.linalg.products import trace

__all__ = ["einsum"]

EINSUM = OpDef(
    "Einsum(inputs: N*T) -> output: T [equation: string; N: int >=1; T: type {numeric}]",
    takes_threads="products",
)


class Equation(NamedTuple):
    """The labels of the inputs and of the output."""

    inputs: list[str]
    output: str

    def __str__(self) -> str:
        return f"{','.join(self.inputs)}->{self.output}"


def parse(equation: Any, ranks: list[int | None]) -> Equation:
    """Return an equation with letters for what "..." stands for.

    Args:
      equation: as NumPy writes them; bytes of a node's attribute, too.
      ranks: of the inputs.

    Raises:
      ValueError: it is no equation, or does not fit the inputs.
    """
    text = (equation.decode() if isinstance(equation, bytes) else equation).replace(" ", "")
    match = re.match(r"^([a-zA-Z,.]+)(->([a-zA-Z.]*))?$", text)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    inputs = match[1].split(",")
    if len(inputs) != len(ranks):
        raise ValueError(
            f'Got {len(ranks)} arguments for equation "{equation}", expecting {len(inputs)}'
        )
    output = match[3] if match[2] else _implied(inputs)
    inputs, output = _spelled_out(inputs, output, ranks)
    for position, (labels, rank) in enumerate(zip(inputs, ranks, strict=True)):
        if rank not in (None, len(labels)):
            raise ValueError(
                f"input {position} of rank {rank} does not match {labels!r} of {equation!r}"
            )
    if not set(output) <= set("".join(inputs)) or len(set(output)) < len(output):
        raise ValueError(f"Invalid equation: {equation}")
    return Equation(inputs, output)


def _implied(inputs: list[str]) -> str:
    """Return the labels of an output that is not told: those that stand once, in order."""
    joined = "".join(inputs)
    once = [label for label, count in Counter(joined.replace(".", "")).items() if count == 1]
    return ("..." if "..." in joined else "") + "".join(sorted(once))


def _spelled_out(inputs: list[str], output: str, ranks: list[int | None]) -> tuple[list[str], str]:
    """Return labels with letters that are free instead of "..."."""
    joined = "".join(inputs)
    if "." not in joined:
        return inputs, output
    free = [each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
            if each not in joined]  # fmt: skip
    counts = [_unnamed(labels, rank) for labels, rank in zip(inputs, ranks, strict=True)]
    letters = "".join(free[: max(counts)])
    spelled = [
        labels.replace("...", letters[len(letters) - count :])
        for labels, count in zip(inputs, counts, strict=True)
    ]
    return spelled, output.replace("...", letters)


def _unnamed(labels: str, rank: int | None) -> int:
    """Return for how many axes "..." stands."""
    count = 0
    if "..." in labels:
        if rank is None:
            raise ValueError(f'"..." of {labels!r} needs an input of known rank')
        count = rank - (len(labels) - 3)
    if count < 0 or "." in labels.replace("...", "", 1):
        raise ValueError(f"Indices have incorrect format: {labels}")
    return count


@EINSUM.shape
def einsum_shape(inputs: list[Shape], *, equation: bytes) -> Shape:
    try:
        parsed = parse(equation, [None if each is None else len(each) for each in inputs])
    except ValueError as error:
        if any(each is None for each in inputs):
            return None
        raise InvalidArgumentError(str(error)) from None
    sizes: dict[str, Any] = {}
    for labels, shape in zip(parsed.inputs, inputs, strict=True):
        for label, size in zip(labels, shape or (None,) * len(labels), strict=True):
            sizes[label] = shapes.merge_dim(
                sizes.get(label), size, f"axes {label!r} of {equation!r}"
            )
    return tuple(sizes[label] for label in parsed.output)


@EINSUM.kernel
def einsum_kernel(inputs: list[Any], *, equation: bytes) -> Any:
    parsed = parse(equation, [each.ndim for each in inputs])
    _check_sizes(parsed, inputs)
    if len(inputs) < 3 and all(len(set(each)) == len(each) for each in parsed.inputs):
        return (_as_product if len(inputs) == 2 else _as_sum)(parsed, *inputs)
    result = np.einsum(str(parsed), *inputs, optimize=len(inputs) > 2)
    return np.asarray(result, inputs[0].dtype)


def _check_sizes(parsed: Equation, inputs: list[Any]) -> None:
    sizes: dict[str, int] = {}
    for labels, array in zip(parsed.inputs, inputs, strict=True):
        for label, size in zip(labels, array.shape, strict=True):
            if sizes.setdefault(label, size) != size:
                raise InvalidArgumentError(
                    f"axes {label!r} of {str(parsed)!r} must be equal, but are {sizes[label]} and "
                    f"{size}"
                )


def _as_sum(parsed: Equation, array: Any) -> Any:
    """Return the sum of a single input, with its axes in another order."""
    labels, summed = _summed(parsed.inputs[0], array, parsed.output)
    return summed.transpose([labels.index(label) for label in parsed.output])


def _as_product(parsed: Equation, one: Any, other: Any) -> Any:
    """Return the sums by a product of matrices, which is much the quickest."""
    (first, second), output = parsed.inputs, parsed.output
    first, one = _summed(first, one, second + output)
    second, other = _summed(second, other, first + output)
    batch = [label for label in first if label in second and label in output]
    inner = [label for label in first if label in second and label not in output]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]
    left, sizes = _grouped(first, one, batch, rows, inner)
    right, others = _grouped(second, other, batch, inner, columns)
    product = np.matmul(left, right).astype(one.dtype, copy=False)
    labels = batch + rows + columns
    product = product.reshape([{**sizes, **others}[label] for label in labels])
    return product.transpose([labels.index(label) for label in output])


def _summed(labels: str, array: Any, wanted: str) -> tuple[str, Any]:
    """Return an array summed over the axes that stand nowhere else."""
    axes = tuple(axis for axis, label in enumerate(labels) if label not in wanted)
    if not axes:
        return labels, array
    rest = "".join(label for label in labels if label in wanted)
    return rest, array.sum(axes, dtype=array.dtype)


def _grouped(
    labels: str, array: Any, batch: list[str], rows: list[str], columns: list[str]
) -> tuple[Any, dict[str, int]]:
    """Return an array as a batch of matrices, and the size of each of its axes."""
    sizes = dict(zip(labels, array.shape, strict=True))
    turned = array.transpose([labels.index(label) for label in batch + rows + columns])
    counts = [int(np.prod([sizes[label] for label in group], dtype=np.int64))
              for group in (rows, columns)]  # fmt: skip
    return turned.reshape([sizes[label] for label in batch] + counts), sizes


@EINSUM.gradient
def einsum_gradient(op: Any, d_output: Any) -> Any:
    ranks = [None if each.plain_shape is None else len(each.plain_shape) for each in op.inputs]
    parsed = parse(op.get_attr("equation"), ranks)
    return [_d_input(op, parsed, place, d_output) for place in range(len(op.inputs))]


def _d_input(op: Any, parsed: Equation, place: int, d_output: Tensor) -> Tensor:
    """Return the gradient of one input: sums of the others' products with the output's."""
    labels, tensor = parsed.inputs[place], op.inputs[place]
    if len(set(labels)) < len(labels):
        raise NotImplementedError(f"{op.name}: no gradient for axes that stand twice, {parsed}")
    others = [each for i, each in enumerate(parsed.inputs) if i != place]
    values = [conjugate(each) for i, each in enumerate(op.inputs) if i != place]
    known = set("".join([parsed.output, *others]))
    kept = "".join(label for label in labels if label in known)
    equation = str(Equation([parsed.output, *others], kept))
    gradient: Tensor = EINSUM([d_output, *values], equation=equation)
    if kept == labels:
        return gradient
    for axis, label in enumerate(labels):  # what was summed over alone has one gradient for all
        gradient = gradient if label in known else raw.ExpandDims(gradient, axis)
    spread: Tensor = raw.BroadcastTo(gradient, shape_of(tensor))
    return spread


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Return sums of products over axes, as an equation says.

    Args:
      equation: a letter for each axis of each input, and behind "->" those of the output, as in
        "ij,jk->ik". Without "->" the output has the letters that stand once, in order; "..." stands
        for any number of axes in front or between.
      *inputs: tensors of one type.
      **kwargs: `name`, of the nodes' scope.

    Raises:
      TypeError: another keyword.
      ValueError: the equation does not fit the inputs, or a letter stands twice in one of them;
        "ii" alone is the trace.

    Example:
      >>> Session().run(einsum("ij,jk->ik", [[1, 2]], [[3], [4]]))
      array([[11]], dtype=int32)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    with name_scope(name, "einsum", inputs):
        tensors = [convert_to_tensor(each) for each in inputs]
        parsed = parse(equation, [_rank(each) for each in tensors])
        if _is_trace(equation, parsed):
            return trace(tensors[0], name="Trace")
        for labels in parsed.inputs:
            if len(set(labels)) < len(labels):
                raise ValueError(
                    f"Subscript not supported: an axis appears more than once: {labels}"
                )
        if any(_rank(each) is None for each in tensors):
            return _by_pairs(parsed, tensors)
        return sum_of_products(parsed.inputs, parsed.output, tensors)


def _is_trace(equation: str, parsed: Equation) -> bool:
    """Return whether the sum over a diagonal is asked for, which has no other spelling."""
    labels, *others = parsed.inputs
    return "->" not in equation and not others and len(labels) == 2 and len(set(labels)) == 1


def _rank(tensor: Tensor) -> int | None:
    return None if tensor.plain_shape is None else len(tensor.plain_shape)


def _by_pairs(parsed: Equation, tensors: list[Tensor]) -> Tensor:
    """Return the sums, two inputs at a time: the op of other TensorFlows takes no more."""
    labels, result = parsed.inputs[0], tensors[0]
    rest = list(zip(parsed.inputs[1:], tensors[1:], strict=True))
    while len(rest) > 1:
        other, tensor = rest.pop(0)
        wanted = set(parsed.output).union(*(each for each, _ in rest))
        both = "".join(dict.fromkeys(labels + other))
        kept = "".join(label for label in both if label in wanted)
        result = EINSUM([result, tensor], equation=str(Equation([labels, other], kept)))
        labels = kept
    last = [each for each, _ in rest]
    equation = str(Equation([labels, *last], parsed.output))
    total: Tensor = EINSUM([result, *(tensor for _, tensor in rest)], equation=equation)
    return total

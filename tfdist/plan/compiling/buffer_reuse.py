"""Buffer reuse: results computed in place, over an input that dies there, whose memory is cached.

An array that leaves a kernel belongs to everyone who takes it, so nothing may be written to it. The
exception is one that nobody can see any more. That is known beforehand for a tensor if

- it was made in the same unit by an elementwise function, or another op that gives a fresh array;
- it has no slots among the values of the run: it is neither fetched nor given to another unit;
- every consumer is such a function too, so that none can have kept a view of it;
- and the last consumer's result has its type, and for sure its shape, if it does not look itself.

An elementwise function is one of NumPy's, or a kernel that takes `out`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import Kernel
from tfdist.graph.records import FUSED, Node
from tfdist.plan.compiling.copies import WRAPPER
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.prune import Endpoint

# Kernels that are Python's operators, as the NumPy functions that take the result's memory.
_OPERATORS: dict[Any, np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.neg: np.negative,
}


def reusable(
    bindings: NodeBindings, sequence: Sequence[Node], kept: Collection[Endpoint] = ()
) -> dict[str, Endpoint]:
    """Return the nodes whose result may be written over an input, and that input.

    Args:
      bindings: what is known of the nodes.
      sequence: the nodes of a unit, or of an iteration of a loop, in order.
      kept: tensors that are taken after that.
    """
    makers = {node.name: node for node in sequence}
    consumers: dict[Endpoint, list[Node]] = {}
    for node in sequence:
        for endpoint in node.inputs:
            consumers.setdefault(endpoint, []).append(node)
    return {
        nodes[-1].name: endpoint
        for endpoint, nodes in consumers.items()
        if endpoint not in kept
        and _is_ours(bindings, makers, endpoint)
        and all(_keeps_no_view(bindings, node) for node in nodes)
        and _fits(bindings, nodes[-1], endpoint)
    }


def elementwise(bindings: NodeBindings, node: Node) -> Kernel | None:
    """Return the function with `out` that computes `node` element by element, None if none does."""
    if WRAPPER in node.attrs:
        return None
    rule = node.op_def.kernels.get("CPU")
    kernel = bindings.specialized(node) or (rule and rule.function)
    if rule and rule.takes_out:
        return kernel
    function = _OPERATORS.get(kernel, kernel)
    is_plain = isinstance(function, np.ufunc) and function.signature is None and function.nout == 1
    return function if is_plain else None


def _keeps_no_view(bindings: NodeBindings, node: Node) -> bool:
    return node.op == FUSED or elementwise(bindings, node) is not None


def _is_ours(bindings: NodeBindings, makers: Mapping[str, Node], endpoint: Endpoint) -> bool:
    """Return whether the unit alone makes and sees the tensor."""
    maker = makers.get(endpoint[0])
    return (
        maker is not None
        and endpoint not in bindings.layout.slots
        and (maker.op_def.gives_fresh or elementwise(bindings, maker) is not None)
    )


def _fits(bindings: NodeBindings, node: Node, endpoint: Endpoint) -> bool:
    """Return whether the result of `node` has the type and, for sure, the shape of the tensor."""
    shape = bindings.shape(endpoint)
    if node.op == FUSED:  # compilers make no vectors of a loop that reads what it writes
        return False
    if not shape or bindings.dtype((node.name, 0)) is not bindings.dtype(endpoint):
        return False
    if node.op_def.kernels["CPU"].takes_out:
        return True
    if None not in shape and bindings.shape((node.name, 0)) == shape:
        return True
    return all(
        other == endpoint or _broadcasts_to(shape, bindings.shape(other)) for other in node.inputs
    )


def _broadcasts_to(shape: tuple[int | None, ...], other: Shape) -> bool:
    if other is None or len(other) > len(shape):
        return False
    tail = shape[len(shape) - len(other) :]
    return all(
        dim == 1 or (dim is not None and dim == size) for dim, size in zip(other, tail, strict=True)
    )

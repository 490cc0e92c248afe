"""A function's body as a partition, for kernels that call functions when they run (tf.data's)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfdist.base.devices import parse
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.functions import Function, Library, NameAttrList, body_of, functions_in
from tfdist.graph.op_def import lookup
from tfdist.graph.records import Node
from tfdist.plan.check import check
from tfdist.plan.functions.inline import inline
from tfdist.plan.prune import prune
from tfdist.plan.step_plan import Partition

_CALL = "StatefulPartitionedCall"


def body_partition(
    function: NameAttrList, library: Library, device: str
) -> tuple[Partition, tuple[DType, ...]]:
    """Return what one call of `function` runs, and the types of its arguments.

    The feeds are its arguments, the fetches its results.

    Args:
      function: which one.
      library: has it, and those that it calls.
      device: full name of the one that all of it runs on.

    Raises:
      InvalidArgumentError: it does not fit together, or is not in the library.
    """
    body = body_of(library.find(function.name), function.attrs, library)
    name = re.sub("[^A-Za-z0-9_.]", "_", function.name).lstrip("_") or "function"
    arguments = [
        Node(f"{name}_argument_{i}", "Placeholder", attrs={"dtype": T, "shape": TensorShape(None)})
        for i, T in enumerate(body.inputs)
    ]
    inputs = tuple([(node.name, 0) for node in arguments])
    attrs = {attr.name: attr.default for attr in lookup(_CALL).signature.attrs.values()}
    attrs |= {"Tin": list(body.inputs), "Tout": list(body.outputs), "f": function}
    call = Node(name, _CALL, inputs, attrs=attrs)
    nodes = inline([*arguments, call], library)
    graph = {node.name: node for node in nodes}
    check(nodes, graph)
    needed = prune(graph, [name], frozenset(inputs))
    placed = tuple([node._replace(device=device) for node in needed])
    fetches = tuple([(name, i) for i in range(len(body.outputs))])
    return Partition(parse(device).task_name, placed, inputs, fetches), body.inputs


def reachable(nodes: Iterable[Node], library: Library) -> Library:
    """Return the functions of `library` that kernels of `nodes` may call."""
    if not library.functions:
        return library
    found: dict[str, Function] = {}
    stack = _called(nodes)
    while stack:
        name = stack.pop()
        function = library.functions.get(name)
        if function is not None and name not in found:
            found[name] = function
            stack += [*_called(function.nodes), library.gradients.get(name, "")]
            stack += [node.op for node in function.nodes]
    gradients = {name: to for name, to in library.gradients.items() if name in found}
    return Library(found, gradients)


def _called(nodes: Iterable[Node]) -> list[str]:
    return [
        each.name
        for node in nodes
        for value in node.attrs.values()
        if isinstance(value, NameAttrList | list)
        for each in functions_in(value)
    ]

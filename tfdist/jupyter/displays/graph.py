"""Displays of graphs and what they are made of: nodes, tensors, variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tfdist.base import shapes
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import (
    Show,
    bytes_text,
    card,
    counted,
    listed,
    rows_table,
    shape_text,
)
from tfdist.plots.shared.tables import Table
from tfdist.tracing.device_names import device_order

MOST_KINDS = 8


def _graph(graph: Any, style: Style) -> Bundle:
    nodes = graph.get_operations()
    kinds = Counter(node.type for node in nodes).most_common(MOST_KINDS + 1)
    told = [f"{count} {kind}" for kind, count in kinds[:MOST_KINDS]]
    functions = list(graph.library.functions)
    facts = [
        ("ops", ", ".join(told) + ", ..." * (len(kinds) > MOST_KINDS)),
        ("functions", listed(functions)),
        ("state", "finalized: no node can be added" if graph.finalized else "open"),
        ("seed", "" if graph.seed is None else str(graph.seed)),
    ]
    return card("Graph", counted(len(nodes), "node"), facts, _devices(nodes), _held(graph))


def _devices(nodes: Iterable[Any]) -> Table:
    """Return how many nodes ask for each device."""
    asked = Counter(node.device or "(none)" for node in nodes)
    rows = tuple((device, f"{count:,}") for device, count in sorted(asked.items(), key=_by_device))
    return Table(("device asked for", "nodes"), rows, frozenset([1]))


def _by_device(counted: tuple[str, int]) -> tuple[Any, ...]:
    return device_order(counted[0])


def _held(graph: Any) -> Table:
    rows = [
        (str(name), f"{len(values):,}", listed(map(_name_of, values)))
        for name in sorted(graph.get_all_collection_keys(), key=str)
        if (values := graph.get_collection(name))
    ]
    return Table(("collection", "members", "which"), tuple(rows), frozenset([1]))


def _name_of(value: Any) -> str:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else type(value).__name__


def _operation(op: Any, style: Style) -> Bundle:
    attrs = [(name, _attr_text(value)) for name, value in sorted(op._attrs.items())]
    facts = [
        ("op", op.type),
        ("device", _device(op.device)),
        ("inputs", "\n".join(map(_typed, op.inputs))),
        ("runs after", listed(each.name for each in op.control_inputs)),
        ("outputs", "\n".join(map(_typed, op.outputs))),
        ("made at", op.created_at),
    ]
    return card("Operation", op.name, facts, rows_table(("attribute", "value"), attrs, style))


def _typed(tensor: Any) -> str:
    return f"{tensor.name}  {tensor.dtype.name} {shape_text(tensor.plain_shape)}"


def _attr_text(value: Any) -> str:
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        small = f": {value.tolist()!r}" if value.size <= MOST_KINDS else ""
        return f"{value.dtype} {shapes.show(value.shape)}{small}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_attr_text, value))}]"
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _device(device: str) -> str:
    return device or "(none asked for)"


def _tensor(tensor: Any, style: Style) -> Bundle:
    op = tensor.op
    facts = [
        ("dtype", tensor.dtype.name),
        ("shape", shape_text(tensor.plain_shape)),
        ("size", _size(tensor.dtype, tensor.plain_shape)),
        ("made by", f"{op.type} {op.name!r}" + f", output {tensor.value_index}"),
        ("from", listed(each.name for each in op.inputs)),
        ("used by", listed(each.name for each in tensor.consumers()) or "nothing"),
        ("device", _device(tensor.device)),
        ("made at", op.created_at),
    ]
    return card("Tensor", tensor.name, facts)


def _size(dtype: Any, shape: Any) -> str:
    """Return how many bytes the elements take, if that is known."""
    count, width = shapes.num_elements(shape), dtype.base_dtype.size
    if count is None or not width:
        return ""
    return f"{counted(count, 'element')}, {bytes_text(count * width)}"


def _variable(variable: Any, style: Style) -> Bundle:
    is_resource = variable.op.type == "VarHandleOp"
    facts = [
        ("dtype", variable.dtype.base_dtype.name),
        ("shape", shape_text(variable.shape)),
        ("size", _size(variable.dtype, variable.shape.as_tuple())),
        ("kind", "resource variable" if is_resource else "reference variable"),
        ("trainable", "yes" if getattr(variable, "_trainable", False) else "no"),
        ("device", _device(variable.device)),
        ("initializer", variable.initializer.name),
        ("made at", variable.op.created_at),
    ]
    return card("Variable", variable.name, facts)


def _partitioned(variable: Any, style: Style) -> Bundle:
    parts = [
        (
            part.name,
            shape_text(part.shape),
            _device(part.device),
            _size(part.dtype, part.shape.as_tuple()),
        )
        for part in variable
    ]
    facts = [
        ("dtype", variable.dtype.name),
        ("shape", shape_text(variable.shape)),
        ("size", _size(variable.dtype, variable.shape.as_tuple())),
        ("parts", " x ".join(map(str, variable._get_partitions()))),
    ]
    table = rows_table(("part", "shape", "device", "size"), parts, style)
    return card("PartitionedVariable", variable.name, facts, table)


def _parts_card(kind: str, value: Any, parts: Iterable[str]) -> Bundle:
    found = [(name, getattr(value, name)) for name in parts]
    facts = [(name, _typed(tensor)) for name, tensor in found if tensor is not None]
    return card(
        kind, value.op.name, [("dtype", value.dtype.name), *facts, ("made at", value.op.created_at)]
    )


def _sparse(tensor: Any, style: Style) -> Bundle:
    return _parts_card("SparseTensor", tensor, ("indices", "values", "dense_shape"))


def _slices(slices: Any, style: Style) -> Bundle:
    return _parts_card("IndexedSlices", slices, ("values", "indices", "dense_shape"))


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.graph.graph", "Graph"): _graph,
    ("tfdist.graph.operation", "Operation"): _operation,
    ("tfdist.graph.operation", "Tensor"): _tensor,
    ("tfdist.ops.variables.variable", "Variable"): _variable,  # of both kinds
    ("tfdist.ops.variables.partitioned_variables", "PartitionedVariable"): _partitioned,
    ("tfdist.ops.sparse.sparse_tensor", "SparseTensor"): _sparse,
    ("tfdist.ops.framework.indexed_slices", "IndexedSlices"): _slices,
}

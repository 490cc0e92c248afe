"""Displays of messages: a short table in place of pages of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tfdist.base import dtypes, shapes
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import Show, card, counted, listed, rows_table
from tfdist.plots.shared.tables import Table
from tfdist.tracing.device_names import device_order

PRINT = "print() shows all of it"
MOST_KINDS = 8


def _graph_def(message: Any, style: Style) -> Bundle:
    return card("GraphDef", counted(len(message.node), "node"), _graph_facts(message),
                _nodes(message.node, style), note=PRINT)  # fmt: skip


def _graph_facts(message: Any) -> list[tuple[str, str]]:
    kinds = Counter(node.op for node in message.node).most_common(MOST_KINDS)
    return [
        ("ops", ", ".join(f"{count} {kind}" for kind, count in kinds)),
        (
            "devices",
            listed(sorted({node.device for node in message.node if node.device}, key=device_order)),
        ),
        ("functions", listed(each.signature.name for each in message.library.function)),
        ("version", str(message.versions.producer) if message.HasField("versions") else ""),
        ("bytes", f"{message.ByteSize():,}"),
    ]


def _nodes(nodes: Iterable[Any], style: Style) -> Table:
    rows = [(node.name, node.op, node.device or "", listed(node.input)) for node in nodes]
    return rows_table(("node", "op", "device asked for", "inputs"), rows, style)


def _meta_graph(message: Any, style: Style) -> Bundle:
    info = message.meta_info_def
    facts = [
        *_graph_facts(message.graph_def),
        ("tags", listed(info.tags)),
        ("written by", info.tensorflow_version and f"version {info.tensorflow_version}"),
        ("saver", message.saver_def.save_tensor_name),
    ]
    held = [
        (key, each.WhichOneof("kind") or "", str(_length(each)))
        for key, each in sorted(message.collection_def.items())
    ]
    signed = [
        (key, listed(sorted(each.inputs)), listed(sorted(each.outputs)))
        for key, each in sorted(message.signature_def.items())
    ]
    return card(
        "MetaGraphDef",
        counted(len(message.graph_def.node), "node"),
        facts,
        rows_table(("collection", "kind", "members"), held, style, [2]),
        rows_table(("signature", "inputs", "outputs"), signed, style),
        note=PRINT,
    )


def _length(collection: Any) -> int:
    kind = collection.WhichOneof("kind")
    return len(getattr(collection, kind).value) if kind else 0


def _node_def(message: Any, style: Style) -> Bundle:
    facts = [
        ("op", message.op),
        ("device", message.device or "(none asked for)"),
        ("inputs", listed(message.input)),
    ]
    rows = [(name, attr_text(value)) for name, value in sorted(message.attr.items())]
    return card("NodeDef", message.name, facts, rows_table(("attribute", "value"), rows, style))


def attr_text(value: Any) -> str:
    """Return an AttrValue in a few words."""
    kind = value.WhichOneof("value")
    if kind == "type":
        return _type_text(value.type)
    if kind == "shape":
        return _shape_text(value.shape)
    if kind == "tensor":
        return f"{_type_text(value.tensor.dtype)} {_shape_text(value.tensor.tensor_shape)}"
    if kind == "list":
        return " ".join(str(value.list).split()) or "[]"
    if kind == "func":
        return f"function {value.func.name}"
    found = getattr(value, kind) if kind else ""
    return found.decode(errors="replace") if isinstance(found, bytes) else str(found)


def _type_text(number: int) -> str:
    try:
        return dtypes.as_dtype(number).name
    except TypeError:
        return f"type {number}"


def _shape_text(message: Any) -> str:
    if message.unknown_rank:
        return "unknown"
    return shapes.show(tuple(None if dim.size < 0 else dim.size for dim in message.dim))


def _fields(message: Any, style: Style) -> Bundle:
    """Return a message's fields that are set, those of messages in it by their path."""
    rows = list(_set_fields(message, ""))
    name = message.DESCRIPTOR.name
    if not rows:
        return card(name, "", [("fields", "none is set: every one has its default")])
    return card(name, counted(len(rows), "field"), [], rows_table(("field", "value"), rows, style))


def _set_fields(message: Any, path: str) -> Iterable[tuple[str, str]]:
    for field, value in message.ListFields():
        name = f"{path}{field.name}"
        if field.message_type is None:
            yield name, _scalar_text(field, value)
        elif not hasattr(value, "ListFields"):  # repeated, or a map
            yield name, _repeated_text(value)
        else:
            yield from list(_set_fields(value, f"{name}.")) or [(name, "(empty)")]


def _scalar_text(field: Any, value: Any) -> str:
    values = value if hasattr(value, "append") else [value]
    if field.enum_type is not None:
        known = field.enum_type.values_by_number
        values = [known[each].name if each in known else each for each in values]
    return listed(map(str, values))


def _repeated_text(value: Any) -> str:
    if hasattr(value, "items"):
        pairs = sorted(value.items())
        return listed(f"{key}: {' '.join(str(each).split())}" for key, each in pairs)
    return listed(" ".join(str(each).split()) for each in value)


def _checkpoint_state(message: Any, style: Style) -> Bundle:
    facts = [("latest", message.model_checkpoint_path)]
    rows = [(path,) for path in message.all_model_checkpoint_paths]
    return card("CheckpointState", counted(len(rows), "checkpoint"), facts,
                rows_table(("kept, the oldest first",), rows, style))  # fmt: skip


def _summary(message: Any, style: Style) -> Bundle:
    rows = [(each.tag, *_summary_text(each)) for each in message.value]
    table = rows_table(("tag", "kind", "value"), rows, style)
    return card("Summary", counted(len(rows), "value"), [], table)


def _summary_text(value: Any) -> tuple[str, str]:
    kind = value.WhichOneof("value") or ""
    found: Any = getattr(value, kind, None)
    if kind == "simple_value":
        return "scalar", f"{found:.7g}"
    if kind == "histo":
        count = counted(int(found.num), "number")
        return "histogram", f"{count} from {found.min:.7g} to {found.max:.7g}"
    if kind == "image":
        return kind, f"{found.width} x {found.height}"
    if kind == "audio":
        return kind, f"{counted(found.length_frames, 'frame')} at {found.sample_rate:g} Hz"
    if kind == "tensor":
        return kind, f"{_type_text(found.dtype)} {_shape_text(found.tensor_shape)}"
    return kind, ""


def _event(message: Any, style: Style) -> Bundle:
    facts = [("what", message.WhichOneof("what") or ""), ("step", str(message.step))]
    values = message.summary.value if message.WhichOneof("what") == "summary" else ()
    rows = [(each.tag, *_summary_text(each)) for each in values]
    return card("Event", "", facts, rows_table(("tag", "kind", "value"), rows, style))


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.protos.pb", name): show
    for name, show in {
        "GraphDef": _graph_def,
        "MetaGraphDef": _meta_graph,
        "NodeDef": _node_def,
        "CheckpointState": _checkpoint_state,
        "Summary": _summary,
        "Event": _event,
        **dict.fromkeys(
            ("ConfigProto", "RunOptions", "GPUOptions", "GraphOptions", "SaverDef", "ClusterDef",
             "ServerDef", "QueueRunnerDef", "VariableDef", "OptimizerOptions"), _fields),
    }.items()
}  # fmt: skip

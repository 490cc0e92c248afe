"""A graph as plain data, for a browser that opens its scopes: each has a drawing of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from tfdist.plots.graph.colours import HOT, SCALE_STEPS
from tfdist.plots.graph.drawing import together
from tfdist.plots.graph.edge_labels import labels
from tfdist.plots.graph.figure import about
from tfdist.plots.graph.layout_shapes import GraphBox
from tfdist.plots.graph.letter_widths import title_text
from tfdist.plots.graph.view import GraphView
from tfdist.tracing.device_names import short_device

MOST_BOXES, MOST_VIEWS = 4000, 150  # of all drawings together; scopes beyond do not open


def graph_payload(
    view: GraphView,
    times: Mapping[str, float] | None = None,
    sizes: Mapping[str, float] | None = None,
) -> dict[str, object]:
    """Return what a browser needs to draw a graph, and what is in its closed scopes.

    Places are in inches from the top left; nodes are positions in lists.

    Args:
      view: of the graph.
      times: microseconds that nodes took, by name.
      sizes: bytes of their outputs, by name.
    """
    number = {node.name: i for i, node in enumerate(view.nodes)}
    keys = {key.name: i for i, key in enumerate(view.paint.keys.values())}
    views: dict[str, dict[str, object]] = {}
    queue, count = deque([("", view)]), 0
    while queue and count < MOST_BOXES and len(views) < MOST_VIEWS:
        name, shown = queue.popleft()
        found = [part for part in shown.closed() if part.name not in views]
        opened = {part.name for part in found}
        views[name] = _drawing(shown, opened, number, keys)
        count += len(shown.folded.leaves)
        queue.extend((part.name, shown.inside(part)) for part in found)
    devices = list(dict.fromkeys(node.device for node in view.nodes))
    return {
        "views": views,
        "keys": [[key.name, key.colour] for key in view.paint.keys.values()],
        "scaled": view.paint.by if view.paint.is_scaled else "",
        "hot": HOT,
        "steps": SCALE_STEPS,
        "devices": [short_device(device) for device in devices],
        "nodes": {
            "name": [node.name for node in view.nodes],
            "op": [node.op for node in view.nodes],
            "device": [devices.index(node.device) for node in view.nodes],
            "us": [round((times or {}).get(node.name, -1.0), 3) for node in view.nodes],
            "bytes": [(sizes or {}).get(node.name, -1) for node in view.nodes],
        },
    }


def _drawing(
    view: GraphView, opened: set[str], number: Mapping[str, int], keys: Mapping[str, int]
) -> dict[str, object]:
    layout, folded = view.layout(), view.folded
    leaves = [*folded.leaves, *(part for part, _, _ in folded.aside)]
    most = max((view.paint.time(part.members) for part in leaves), default=0.0)
    wires = []
    for wire in layout.wires:
        link = together(folded, wire)
        points = [wire.points[0], *wire.curve(), wire.points[3]]
        wires.append([
            [round(each, 2) for point in points for each in point],
            len(link.tensors), int(wire.into >= 0),
        ])  # fmt: skip
    return {
        "size": [round(layout.width, 2), round(layout.height, 2)],
        "most": most,
        "boxes": [
            _box(view, box, opened, number, keys, most) for box in (*layout.boxes, *layout.aside)
        ],
        "frames": [
            [*_place(each.left, each.top, each.width, each.height), each.depth, each.part.title]
            for each in layout.frames
        ],
        "wires": wires,
        "labels": [[round(x, 2), round(y, 2), text] for x, y, text in labels(layout, folded)],
        "aside": round(layout.aside_top, 2) if layout.aside else 0,
    }


def _box(
    view: GraphView,
    box: GraphBox,
    opened: set[str],
    number: Mapping[str, int],
    keys: Mapping[str, int],
    most: float,
) -> list[object]:
    part, paint = box.part, view.paint
    if paint.is_scaled:
        shares = [[0, round(paint.time(part.members) / most, 3) if most else 0]]
    else:
        shares = [
            [keys[each.key.name], round(each.part, 3)] for each in paint.shares(part.members, most)
        ]
    return [
        *_place(box.left, box.top, box.width, box.height), title_text(part), about(paint, part),
        shares, part.name if part.name in opened and len(part.members) > 1 else "", part.times,
        [number[view.nodes[i].name] for i in part.members],
    ]  # fmt: skip


def _place(*sizes: float) -> tuple[float, ...]:
    return tuple(round(each, 2) for each in sizes)

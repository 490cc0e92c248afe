"""A scene as JSON has it, for players that run elsewhere: numbers in columns, and all the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.plots.placement.layout import HEAD, Edge
from tfdist.plots.player.scene import BRIEF, Event, Scene, block_title, notes, told_name
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import ink_on
from tfdist.plots.shared.routes import BOX
from tfdist.tracing.steps.device_activity import PHRASES, STATES, Status, asked_us, spoken_device
from tfdist.tracing.steps.node_row import KINDS

Json = dict[str, Any]


def payload(scene: Scene) -> Json:
    """Return everything that a player needs, once: times in microseconds, places in inches."""
    names = _devices(scene)
    number = {device: i for i, device in enumerate(names)}
    layout = scene.layout
    return {
        "devices": _described(names),
        "columns": [
            {"device": number[device], "left": _fine(left), "width": _fine(width)}
            for device, left, width in layout.columns
        ],
        "size": {
            "left": _fine(layout.left),
            "right": _fine(layout.right),
            "top": HEAD,
            "bottom": _fine(layout.height),
            "box": list(BOX),
        },
        "boxes": [_box(scene, i, number) for i in range(len(layout.boxes))],
        "edges": [_edge(edge) for edge in layout.edges],
        "events": _events(scene.events, number),
        "doing": [_doing(scene.doing.get(device, ())) for device in names],
        "states": list(STATES),
        "phrases": [PHRASES[state] for state in STATES],
        "ticks": [_fine(tick) for tick in scene.ticks],
        "lengths": scene.lengths,
        "brief": BRIEF,
        "uneven": scene.is_uneven,
        "notes": notes(scene),
    }


def _devices(scene: Scene) -> list[str]:
    """Return the devices of the picture, and those that ran something else."""
    drawn = [device for device, _, _ in scene.layout.columns]
    return [*drawn, *(device for device in scene.doing if device not in drawn)]


def _described(names: Sequence[str]) -> list[Json]:
    colours = device_colours(names)
    return [
        {
            "name": spoken_device(device),
            "whole": device,
            "colour": colours[device],
            "ink": ink_on(colours[device]),
        }
        for device in names
    ]


def _box(scene: Scene, i: int, number: dict[str, int]) -> Json:
    group, spot = scene.layout.boxes[i].group, scene.layout.boxes[i].spot
    return {
        "x": _fine(spot.x),
        "y": _fine(spot.y),
        "w": _fine(spot.width),
        "title": block_title(scene, i),
        "below": group.op,
        "devices": [number[device] for device in group.devices],
        "quiet": group.is_quiet,
        "block": group.block is not None,
    }


def _edge(edge: Edge) -> Json:
    corners = [[_fine(x), _fine(y)] for x, y in edge.corners]
    return {"from": edge.source, "to": edge.target, "crosses": edge.crosses, "way": corners}


def _events(events: Sequence[Event], number: dict[str, int]) -> Json:
    """Return a list for each property; positions are the events'."""
    found = [event.row for event in events]
    return {
        "kind": [KINDS.index(row.kind) for row in found],
        "start": [_fine(row.start_us) for row in found],
        "end": [_fine(row.end_us) for row in found],
        "asked": [_fine(asked_us(row)) for row in found],
        "device": [number[row.device] for row in found],
        "source": [number.get(row.source, -1) for row in found],
        "name": [told_name(row) for row in found],
        "op": [row.op for row in found],
        "bytes": [row.bytes for row in found],
        "round": [str(row.rounds) for row in found],
        "boxes": [list(event.boxes) for event in events],
        "edges": [list(event.edges) for event in events],
        "maker": [event.maker for event in events],
    }


def _doing(statuses: Sequence[Status]) -> Json:
    return {
        "start": [_fine(status.start_us) for status in statuses],
        "state": [STATES.index(status.state) for status in statuses],
        "event": [status.row for status in statuses],
        "others": [status.others for status in statuses],
    }


def _fine(number: float) -> float:
    return round(number, 3)

"""Displays of sessions, their devices, and lists of nodes that they placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.jupyter import bundles
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.displays.cards import (
    Show,
    bytes_text,
    card,
    counted,
    rows_table,
    tables_bundle,
    within_a_moment,
)
from tfdist.jupyter.listed import MOST_LISTED, listed_bundle
from tfdist.jupyter.sessions import task_of
from tfdist.plots.shared.placed_nodes import by_device
from tfdist.plots.shared.tables import Table, placement_table
from tfdist.plots.text import placement_sentence
from tfdist.session.recording import PlacedNode


def _session(session: Any, style: Style) -> Bundle:
    graph, timeout = session.graph, session._timeout
    facts = [
        ("state", _state(session)),
        ("task", task_of(session.target)),
        ("target", _target(session.target, style)),
        ("graph", f"{counted(graph.version, 'node')}{', finalized' * graph.finalized}"),
        ("steps", f"{counted(session._steps, 'step')} of {counted(len(session._calls), 'kind')}"),
        ("timeout", f"{timeout} ms" if timeout else ""),
    ]
    return card(type(session).__name__, "", facts, _devices_of(session, style))


def _target(target: str, style: Style) -> str:
    """Return a target; without times not one whose port may be another one in each run."""
    if not target:
        return "'': devices of its own, in this process"
    return target if style.times or task_of(target) == target else ""


def _state(session: Any) -> str:
    if session._closed:
        return "closed"
    return "open" if session._connection is not None else "open; it connects at its first run"


def _devices_of(session: Any, style: Style) -> Table:
    """Return the devices that a session spans; none where its server does not say at once."""
    connection = session._connection
    if session._closed or connection is None:
        return Table((), ())
    return devices_table(within_a_moment(connection.devices, []), style)


def devices_table(devices: Sequence[Any], style: Style) -> Table:
    """Return a table of devices: those of a session, or DeviceAttributes.

    What differs from host to host, as times do from run to run, is left out with them.
    """
    columns = {
        "device": [each.name for each in devices],
        "type": [each.device_type for each in devices],
        "memory": [bytes_text(each.memory_limit) if style.times else "" for each in devices],
        "what it is": [each.physical_device_desc for each in devices],
    }
    told = {name: cells for name, cells in columns.items() if any(cells)}
    numeric = [i for i, name in enumerate(told) if name == "memory"]
    return rows_table(tuple(told), zip(*told.values(), strict=True), style, numeric)


def _devices(devices: Sequence[Any], style: Style) -> Bundle:
    return tables_bundle([devices_table(devices, style)], counted(len(devices), "device"))


def _device(device: Any, style: Style) -> Bundle:
    return tables_bundle([devices_table([device], style)])


def _monitored(session: Any, style: Style) -> Bundle:
    life = session._life
    hooks = [type(hook).__name__ for hook in session._hooks]
    facts = [
        ("state", "closed" if life is None else "open"),
        ("hooks", ", ".join(hooks) or "none"),
        ("is to stop", "" if life is None else str(session.should_stop())),
    ]
    inner = None if life is None else within_a_moment(lambda: life.session, None)
    tables = [] if inner is None else [_inner(inner)]
    return card(type(session).__name__.lstrip("_"), "", facts, *tables)


def _inner(session: Any) -> Table:
    rows = (("task", task_of(session.target)), ("nodes", f"{session.graph.version:,}"))
    return Table(("Session", ""), rows)


def _placed(nodes: Sequence[PlacedNode], style: Style) -> Bundle:
    colours = bundles.short_colours(list(by_device(nodes)))
    table = placement_table(nodes, MOST_LISTED)
    sentence = placement_sentence(nodes)
    return listed_bundle(table, "nodes, and why they are where", style, colours, sentence)


def _one_placed(node: Any, style: Style) -> Bundle:
    return _placed([node], style)


# Whose plain text IPython would not take from the displays: it has printers for lists and tuples.
SEQUENCES = {
    ("tfdist.session.recording", "PlacedNode"),
    ("tfdist.session.recording", "PlacedNodes"),
    ("tfdist.runtime.devices.local_devices", "Device"),
    ("tfdist.runtime.devices.local_devices", "Devices"),
}
DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.session.base_session", "BaseSession"): _session,  # and InteractiveSession
    (
        "tfdist.training.sessions.monitored_session",
        "HookedMonitoredSession",
    ): _monitored,  # of both kinds
    ("tfdist.session.recording", "PlacedNode"): _one_placed,
    ("tfdist.session.recording", "PlacedNodes"): _placed,
    ("tfdist.runtime.devices.local_devices", "Device"): _device,
    ("tfdist.runtime.devices.local_devices", "Devices"): _devices,
    ("tfdist.protos.pb", "DeviceAttributes"): _device,
}

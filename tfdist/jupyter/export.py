"""What `--save` writes, by the suffix: pictures, pages, Perfetto's traces, TensorBoard's events."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdist.jupyter.bundles import Bundle
from tfdist.jupyter.live import joined
from tfdist.jupyter.report_page import page
from tfdist.plots.shared.palette import png, svg
from tfdist.plots.shared.themes import drawn
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.protos import pb
from tfdist.session.recording import PlacedNode
from tfdist.tracing.steps.entries import before_transfer
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.rows import rows
from tfdist.tracing.steps.timeline import Timeline
from tfdist.training.events.file_writer import FileWriter

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure


@dataclass(frozen=True)
class Export:
    """What can be written.

    Attributes:
      figure: draws the picture; None where there is none.
      metadata: RunMetadata of the step that it shows; None where it shows several.
      nodes: what ran, placed; by default what the statistics tell.
      shown: what is displayed, for a page or a text of it.
    """

    figure: Callable[[], Figure] | None = None
    metadata: Any = None
    nodes: Sequence[PlacedNode] = ()
    shown: Sequence[Bundle] = ()


def timeline_export(metadata: Any, nodes: Sequence[PlacedNode] = ()) -> Export:
    """Return the timeline of a step, to be written."""
    return Export(lambda: timeline_figure(rows(metadata.step_stats)), metadata, nodes)


def export(path: str, what: Export, theme: str = "light") -> None:
    """Write a file of the kind that its suffix says; pictures are drawn in `theme`.

    Raises:
      ValueError: no such kind can be written of this.
      OSError: the file cannot be written.
    """
    file = Path(path).expanduser()
    kind = KINDS.get(file.suffix)
    possible = {suffix: each for suffix, each in KINDS.items() if _has(what, each)}
    if kind is None or file.suffix not in possible:
        raise ValueError(f"what this shows is saved as {_choice(possible)}, not {path}")
    with drawn(theme):
        kind.write(file, what)


def graph_of(what: Export) -> Any:
    """Return the GraphDef of what ran, as far as names, ops, inputs and devices go."""
    if what.nodes:
        told = [(each.name, each.op, each.device, each.inputs) for each in what.nodes]
    else:
        told = list(_told(rows(what.metadata.step_stats)))
    nodes = [
        pb.NodeDef(name=name, op=op, device=device, input=inputs)
        for name, op, device, inputs in told
    ]
    return pb.GraphDef(node=nodes)


def _told(step_rows: Iterable[NodeRow]) -> Iterable[tuple[str, str, str, tuple[str, ...]]]:
    """Return (name, op, device, inputs) of each node in the statistics of a step."""
    nodes = {row.name: row for row in step_rows if row.kind != TRANSFER}
    for row in nodes.values():
        sources = [name if name in nodes else before_transfer(name) for name in row.inputs]
        yield row.name, row.op, row.device, tuple([name for name in sources if name in nodes])


def _has(what: Export, kind: _Kind) -> bool:
    return bool(getattr(what, kind.needs))


def _choice(possible: dict[str, _Kind]) -> str:
    uses = {f"FILE{suffix}": each.use for suffix, each in possible.items()}
    named = [f"{file} ({use})" if use else file for file, use in uses.items()]
    return " or ".join([", ".join(named[:-1]), named[-1]])


def _write_picture(file: Path, what: Export, make: Callable[[Figure], bytes]) -> None:
    assert what.figure is not None
    file.write_bytes(make(what.figure()))


def _write_page(file: Path, what: Export) -> None:
    text = page(file.stem, str(joined(what.shown).data["text/html"]), False)
    file.write_text(text, encoding="utf-8")


def _write_text(file: Path, what: Export) -> None:
    texts = [each.data["text/plain"].rstrip() for each in what.shown]
    file.write_text("\n\n".join(filter(None, texts)) + "\n", encoding="utf-8")


def _write_chrome(file: Path, what: Export) -> None:
    timeline = Timeline(what.metadata.step_stats)
    file.write_text(timeline.generate_chrome_trace_format(show_memory=True), encoding="utf-8")


def _write_events(file: Path, what: Export) -> None:
    """Write one event file: the graph, and what the step told of it."""
    with TemporaryDirectory(dir=file.parent, prefix=".tfdist-") as folder:
        with FileWriter(folder, graph_def=graph_of(what)) as writer:
            writer.add_run_metadata(_with_shapes(what.metadata), "step")
        (written,) = Path(folder).iterdir()
        shutil.move(written, file)


def _with_shapes(metadata: Any) -> Any:
    """Return a copy in which every output has a shape: without, TensorBoard's page gives up."""
    found = pb.RunMetadata()
    found.CopyFrom(metadata)
    for device in found.step_stats.dev_stats:
        for output in (each for node in device.node_stats for each in node.output):
            if not output.tensor_description.HasField("shape"):
                output.tensor_description.shape.unknown_rank = True
    return found


class _Kind(NamedTuple):
    """A kind of file: how it is written, what it is for, and which part of an Export it needs."""

    write: Callable[[Path, Export], None]
    use: str
    needs: str


KINDS = {
    ".json": _Kind(_write_chrome, "for Perfetto", "metadata"),
    ".tfevents": _Kind(_write_events, "for TensorBoard", "metadata"),
    ".png": _Kind(partial(_write_picture, make=png), "", "figure"),
    ".svg": _Kind(partial(_write_picture, make=svg), "", "figure"),
    ".html": _Kind(_write_page, "a page", "shown"),
    ".txt": _Kind(_write_text, "", "shown"),
}

"""What a graph's picture shows, in words: a sentence, and a tree of its scopes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tfdist.plots.graph.colours import Paint
from tfdist.plots.graph.data import TIMES, GraphNode
from tfdist.plots.graph.letter_widths import MARK
from tfdist.plots.graph.scopes_data import Folded, Part, nodes_text
from tfdist.tracing.device_names import device_order, short_device

MOST_LINES = 200


def graph_sentence(
    nodes: Sequence[GraphNode], folded: Folded, marked: Collection[str] = (), scope: str = ""
) -> str:
    """Return one sentence on a graph: nodes, where they are, and how they are drawn.

    Args:
      nodes: of the graph.
      folded: as it is drawn.
      marked: names of nodes that were added.
      scope: that is shown, "" for all.
    """
    members = folded.whole.members
    devices = sorted({nodes[i].device for i in members}, key=device_order)
    named = [short_device(device) for device in devices if device]
    where = f" on {', '.join(named)}" if named else ""
    counts = f"{len(folded.leaves)} box{'es' * (len(folded.leaves) != 1)}"
    aside = f", {len(folded.aside)} set aside" if folded.aside else ""
    added = f"; {nodes_text(len(marked))} added" if marked else ""
    what = f"Scope {scope}" if scope else "Graph"
    return f"{what} of {nodes_text(len(members))}{where}, drawn as {counts}{aside}{added}."


def graph_tree(
    nodes: Sequence[GraphNode],
    folded: Folded,
    paint: Paint,
    marked: Collection[str] = (),
    most: int = MOST_LINES,
) -> str:
    """Return a tree of what is drawn: a line for each scope and box, and what it takes from.

    Args:
      nodes: of the graph.
      folded: as it is drawn.
      paint: what colours mean.
      marked: names of nodes that were added.
      most: lines.
    """
    taken = _taken(folded)
    added = {i for i, node in enumerate(nodes) if node.name in marked}
    rows = list(_rows(folded.whole.parts, 0, paint, taken, added))
    if folded.aside:
        rows.append(("set aside:", "", ""))
        rows += [
            (f"  {_title(part, added)}", part.about, _degree(before, after))
            for part, before, after in folded.aside
        ]
    widths = [max((len(row[i]) for row in rows[:most]), default=0) for i in range(2)]
    lines = [
        f"{row[0].ljust(widths[0])}  {row[1].ljust(widths[1])}  {row[2]}".rstrip()
        for row in rows[:most]
    ]
    if len(rows) > most:
        lines.append(f"... and {len(rows) - most} more lines")
    return "\n".join(lines)


def _rows(
    parts: Sequence[Part],
    depth: int,
    paint: Paint,
    taken: dict[int, str],
    added: Collection[int],
) -> Iterator[tuple[str, str, str]]:
    for part in parts:
        about = part.about if not part.parts else nodes_text(len(part.members))
        said = [paint.words(part.members), taken.get(id(part), "")]
        title = "  " * depth + _title(part, added)
        yield title, about, "; ".join(filter(None, said))
        yield from _rows(part.parts, depth + 1, paint, taken, added)


def _title(part: Part, added: Collection[int]) -> str:
    times = f" {TIMES}{part.times:,}" if part.times > 1 else ""
    mark = f"{MARK} " if any(i in added for i in part.members) else ""
    return f"{mark}{part.title}{times}"


def _taken(folded: Folded) -> dict[int, str]:
    """Return what each box takes from, in words, by the `id` of the box."""
    sources: dict[int, list[str]] = {}
    for (source, target), link in sorted(folded.links.items()):
        waits = "" if link.tensors else "after "
        name = folded.leaves[source].name.rstrip("/") or folded.leaves[source].title
        sources.setdefault(target, []).append(waits + name)
    return {id(folded.leaves[i]): f"from {', '.join(names)}" for i, names in sources.items()}


def _degree(before: int, after: int) -> str:
    said = (f"takes from {before} boxes", before), (f"{after} boxes take from it", after)
    return "; ".join(text for text, count in said if count)

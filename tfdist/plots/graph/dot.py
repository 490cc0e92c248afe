"""A graph as Graphviz's DOT, as the picture shows it: for other layouts and other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdist.plots.graph.colours import Paint
from tfdist.plots.graph.edge_labels import label
from tfdist.plots.graph.letter_widths import title_text
from tfdist.plots.graph.scopes_data import Folded, Part
from tfdist.plots.shared.palette import tint


def graph_dot(folded: Folded, paint: Paint) -> str:
    """Return a folded graph as DOT: open scopes are clusters, control edges dotted."""
    numbers = {id(leaf): i for i, leaf in enumerate(folded.leaves)}
    first = len(folded.leaves)
    lines = [
        "digraph tfdist {",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"]',
    ]
    lines += _parts(folded.whole.parts, numbers, paint, 1)
    for (source, target), link in folded.links.items():
        look = f"label={_quoted(label(link))}" if link.tensors else "style=dotted"
        lines.append(f"  n{source} -> n{target} [{look}]")
    for i, (part, _, _) in enumerate(folded.aside):
        lines.append(_box(part, first + i, paint, "  "))
    return "\n".join([*lines, "}", ""])


def _parts(
    parts: Sequence[Part], numbers: dict[int, int], paint: Paint, depth: int
) -> Iterator[str]:
    space = "  " * depth
    for part in parts:
        if not part.parts:
            yield _box(part, numbers[id(part)], paint, space)
            continue
        yield f"{space}subgraph {_quoted('cluster_' + part.name)} {{"
        yield f"{space}  label={_quoted(part.title)}"
        yield from _parts(part.parts, numbers, paint, depth + 1)
        yield f"{space}}}"


def _box(part: Part, number: int, paint: Paint, space: str) -> str:
    text = f"{title_text(part)}\n{part.about}"
    shares = paint.shares(part.members, paint.time(part.members))
    colour = shares[0].key.colour if paint.by == "time" else tint(shares[0].key.colour)
    words = _quoted(paint.words(part.members))
    return f'{space}n{number} [label={_quoted(text)}, fillcolor="{colour}", tooltip={words}]'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

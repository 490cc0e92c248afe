"""Where the boxes and frames of a graph's picture stand, and the ways of its edges: plain data.

Each frame is arranged by itself (`layout_layers`), inner ones first; in what is around it, it
is one large item. Edges enter it at its upper border and leave it at its lower one. They cross only
in the gaps between layers, and pass layers where a place is kept for them: never behind a box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from tfdist.plots.graph.layout_frame import Frame, plan_of
from tfdist.plots.graph.layout_layers import arrange_layers
from tfdist.plots.graph.layout_shapes import (
    HEIGHT,
    INSET,
    STACK,
    Block,
    GraphBox,
    GraphFrame,
    Wire,
    moved,
)
from tfdist.plots.graph.letter_widths import box_width
from tfdist.plots.graph.scopes_data import Folded, Part
from tfdist.plots.shared.palette import WIDTH

LEAST_WIDTH = 5.0  # inches: the legend needs it
MARGIN = 0.1  # inches around everything
PAGE, SCREEN = 12.0, 8.0  # inches of a notebook that are seen at once
WIDER = (13.0, 18.0, 26.0)  # inches that are tried for pictures of several screens


@dataclass(frozen=True)
class GraphLayout:
    """Everything a graph's picture shows; sizes in inches.

    Attributes:
      boxes: of the leaves.
      frames: outer ones first.
      wires: of the edges.
      aside: boxes that are set aside, below the line at `aside_top`.
      aside_top: where they begin; the height if there are none.
      width: of the picture.
      height: of the picture.
    """

    boxes: tuple[GraphBox, ...]
    frames: tuple[GraphFrame, ...]
    wires: tuple[Wire, ...]
    aside: tuple[GraphBox, ...]
    aside_top: float
    width: float
    height: float


def layout_graph(
    folded: Folded, below: Callable[[Part], str], width: float | None = None
) -> GraphLayout:
    """Return the layout of a folded graph.

    Without a width, tall frames stand side by side if what is seen of them becomes less tall: a
    notebook shrinks what is wider than a page.

    Args:
      folded: from `scopes.fold_graph`.
      below: what is written second in a box.
      width: inches that it should not be wider than, if that can be.
    """
    if width is None:
        found = layout_graph(folded, below, WIDTH)
        for wider in WIDER if found.height > SCREEN else ():
            other = layout_graph(folded, below, wider)
            found = min(found, other, key=_seen_height)
        return found
    maker = _Maker({id(leaf): i for i, leaf in enumerate(folded.leaves)}, below)
    whole = maker.block(folded.whole, list(folded.links), 0, width - 2 * MARGIN)
    right = max(whole.width + 2 * MARGIN, LEAST_WIDTH)
    whole = moved(whole, (right - whole.width) / 2, MARGIN)
    aside_top = whole.height + 2 * MARGIN
    aside, height = _aside(folded, below, max(right, min(width, WIDTH)), aside_top)
    right = max([right, *(box.left + box.width + MARGIN for box in aside)])
    boxes = sorted(whole.boxes, key=lambda box: box.leaf)
    return GraphLayout(
        tuple(boxes), tuple(whole.frames), tuple(whole.wires), aside, aside_top, right, height
    )


def _seen_height(layout: GraphLayout) -> float:
    return layout.height * min(1.0, PAGE / layout.width)


def _aside(
    folded: Folded, below: Callable[[Part], str], width: float, top: float
) -> tuple[tuple[GraphBox, ...], float]:
    """Return the boxes that are set aside, in lines below `top`, and where they end."""
    if not folded.aside:
        return (), top
    boxes, left, line = [], MARGIN, top + 0.3
    for part, _, _ in folded.aside:
        wide = box_width(part, below(part))
        if left > MARGIN and left + wide + MARGIN > width:
            left, line = MARGIN, line + HEIGHT + 0.12
        boxes.append(GraphBox(part, -1, left, line, wide))
        left += wide + 0.14
    return tuple(boxes), line + HEIGHT + MARGIN


class _Maker:
    """Arranges frames, inner ones first.

    Args:
      numbers: position of each leaf, by its `id`.
      below: what is written second in a box.
    """

    def __init__(self, numbers: Mapping[int, int], below: Callable[[Part], str]) -> None:
        self._numbers, self._below = numbers, below

    def block(
        self, part: Part, links: Sequence[tuple[int, int]], depth: int, limit: float
    ) -> Block:
        """Return what is in the frame of `part`; of `links` each has an end in it."""
        home = {
            self._numbers[id(leaf)]: i
            for i, inner in enumerate(part.parts)
            for leaf in inner.leaves()
        }
        blocks = [
            self._child(inner, i, home, links, depth, limit) for i, inner in enumerate(part.parts)
        ]
        plan = plan_of(blocks, home, links, limit if depth == 0 else _narrow(blocks, limit))
        layers = arrange_layers(plan.level)
        return Frame(part, blocks, plan, layers, depth).block()

    def _child(
        self,
        part: Part,
        i: int,
        home: Mapping[int, int],
        links: Sequence[tuple[int, int]],
        depth: int,
        limit: float,
    ) -> Block:
        if part.parts:
            own = [each for each in links if i in (home.get(each[0]), home.get(each[1]))]
            return self.block(part, own, depth + 1, limit - 2 * INSET)
        number = self._numbers[id(part)]
        width = box_width(part, self._below(part))
        behind = STACK if part.times > 1 else 0.0
        box = GraphBox(part, number, 0.0, behind, width)
        return Block(width + behind, HEIGHT + behind, [box])


def _narrow(blocks: Sequence[Block], limit: float) -> float:
    """Return how wide the layers of an inner frame may be, not to be much wider than tall."""
    area = sum((block.width + 0.2) * (block.height + 0.4) for block in blocks)
    return min(limit, max(2.6, 1.5 * sqrt(area)))

"""The picture of a graph: frames for open scopes, boxes for nodes and closed scopes, edges.

Data goes from top to bottom. Lines are the thicker the more tensors they stand for, and dotted
where nothing flows, but one waits for the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.graph.colours import SCALE_STEPS, Paint, Share
from tfdist.plots.graph.data import GraphNode, graph_nodes
from tfdist.plots.graph.drawing import add_rectangle, draw_wires, together
from tfdist.plots.graph.edge_labels import labels
from tfdist.plots.graph.layout import GraphLayout, layout_graph
from tfdist.plots.graph.layout_shapes import HEIGHT, GraphBox, GraphFrame
from tfdist.plots.graph.letter_widths import ABOUT, HEADING, MARK, SMALL, STRIP, TITLE, title_text
from tfdist.plots.graph.scopes import DEPTH, fold_graph
from tfdist.plots.graph.scopes_data import Folded, Part
from tfdist.plots.shared.palette import new_figure, tint
from tfdist.plots.shared.themes import faint, ink, panel, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND_ROW = 0.19  # inches


def graph_figure(
    graph: Any,
    by: str = "device",
    depth: int = DEPTH,
    most: int | None = None,
    devices: Mapping[str, str] | None = None,
    times: Mapping[str, float] | None = None,
    marked: Collection[str] = (),
    with_times: bool = True,
    scope: str = "",
) -> Figure:
    """Return a matplotlib `Figure` of a graph.

    Args:
      graph: a `Graph`, a `GraphDef`, or nodes from `graph_data.graph_nodes`.
      by: what colours mean: "device", "op" (its kind), "time" or "memory".
      depth: to which scopes are open: 1 for none, 2 for the outermost.
      most: boxes to draw; see `scopes.fold_graph`.
      devices: where nodes are, by name; else the devices that were asked for.
      times: microseconds that nodes took, by name, for `by="time"`; bytes for "memory".
      marked: names of nodes to be marked.
      with_times: whether durations are written.
      scope: name of the scope to draw; by default all.

    Raises:
      ValueError: there is no such `by` or `scope`, or "time" or "memory" without `times`.

    Example:
      >>> from tfdist.graph.graph import Graph
      >>> from tfdist.plots.graph.figure import graph_figure
      >>> graph_figure(Graph()).get_facecolor()
      (1.0, 1.0, 1.0, 1.0)
    """
    nodes = graph_nodes(graph, devices)
    paint = Paint(by, nodes, times, with_times)
    return folded_figure(nodes, fold_graph(nodes, depth, most, scope), paint, marked)


def folded_figure(
    nodes: Sequence[GraphNode], folded: Folded, paint: Paint, marked: Collection[str] = ()
) -> Figure:
    """Return the figure of a graph that is folded already."""
    return _Drawing(nodes, folded, paint, marked).figure


def about(paint: Paint, part: Part) -> str:
    """Return what is written second in a box."""
    return f"{part.about}, {paint.words(part.members)}" if paint.is_scaled else part.about


class _Drawing:
    """Draws one graph."""

    def __init__(
        self,
        nodes: Sequence[GraphNode],
        folded: Folded,
        paint: Paint,
        marked: Collection[str],
    ) -> None:
        self._folded, self._paint = folded, paint
        self._marked = {i for i, node in enumerate(nodes) if node.name in marked}
        aside = [part for part, _, _ in folded.aside]
        self._hottest = max((paint.time(p.members) for p in [*folded.leaves, *aside]), default=0.0)
        layout = layout_graph(folded, self._below)
        foot = LEGEND_ROW * self._legend_rows(layout.width) + 0.1
        whole = layout.height + foot
        self.figure, self._axes = new_figure(whole, layout.width)
        self.figure.set_layout_engine("none")  # it would draw everything once more
        self._axes.set_position((0.0, foot / whole, 1.0, layout.height / whole))
        self._axes.set_axis_off()
        self._axes.set_xlim(0, layout.width)
        self._axes.set_ylim(layout.height, 0)
        self._draw(layout)
        self._draw_legend(layout.width)

    def _below(self, part: Part) -> str:
        return about(self._paint, part)

    def _draw(self, layout: GraphLayout) -> None:
        for frame in layout.frames:
            self._frame(frame)
        draw_wires(self._axes, [(wire, together(self._folded, wire)) for wire in layout.wires])
        for x, y, text in labels(layout, self._folded):
            _write(self._axes, x, y, text, SMALL, color=ink(), zorder=5,
                   bbox={"facecolor": panel(), "edgecolor": "none", "pad": 0.6})  # fmt: skip
        for box in layout.boxes:
            self._box(box)
        if layout.aside:
            self._aside(layout)

    def _frame(self, frame: GraphFrame) -> None:
        face = shade() if frame.depth % 2 == 0 else panel()
        place = frame.left, frame.top, frame.width, frame.height
        add_rectangle(
            self._axes, place, face, faint(), round=0.08, width=1.0, zorder=1 + 0.05 * frame.depth
        )
        mark = f"{MARK} " if self._marked.issuperset(frame.part.members) else ""
        text = f"{mark}{frame.part.title}  {len(frame.part.members):,} nodes"
        look: dict[str, Any] = {"ha": "left", "zorder": 5, "color": ink(), "weight": "bold"}
        look["bbox"] = {"facecolor": face, "edgecolor": "none", "pad": 0.8}
        _write(self._axes, frame.left + 0.1, frame.top + 0.14, text, HEADING, **look)

    def _box(self, box: GraphBox) -> None:
        """Draw a box: tinted by its colours in proportion, its swatch hatched by them."""
        is_marked = not self._marked.isdisjoint(box.part.members)
        is_node = len(box.part.members) == 1
        place = box.left, box.top, box.width, box.height
        rounded = HEIGHT / 2.5 if is_node else 0.0
        for k in range(2 if box.part.times > 1 else 0, 0, -1):  # a series is a stack
            behind = box.left + 0.04 * k, box.top - 0.04 * k, box.width, box.height
            add_rectangle(self._axes, behind, panel(), faint(), width=0.9, zorder=4)
        shares = self._paint.shares(box.part.members, self._hottest)
        if is_node:
            add_rectangle(self._axes, place, self._face(shares[0]), round=rounded, zorder=4.1)
        else:
            self._fill(box, shares)
        if not self._paint.is_scaled:
            self._swatch(box, shares)
        edge, width = (faint(), 1.0) if is_node and not is_marked else (ink(), 1.1)
        width = 2.4 if is_marked else width
        add_rectangle(self._axes, place, "none", edge, rounded, width, zorder=4.3)
        x = box.left + (box.width + (0.0 if self._paint.is_scaled else STRIP)) / 2
        y = box.top + box.height / 2
        title = f"{MARK} {title_text(box.part)}" if is_marked else title_text(box.part)
        _write(self._axes, x, y - 0.075, title, TITLE, weight="bold", color=ink(), zorder=5)
        _write(self._axes, x, y + 0.085, self._below(box.part), ABOUT, color=ink(), zorder=5)

    def _face(self, share: Share) -> str:
        return share.key.colour if self._paint.is_scaled else tint(share.key.colour, 0.22)

    def _fill(self, box: GraphBox, shares: Sequence[Share]) -> None:
        left = box.left
        for share in shares:
            width = box.width * share.part
            place = left, box.top, width, box.height
            add_rectangle(self._axes, place, self._face(share), zorder=4.1)
            left += width

    def _swatch(self, box: GraphBox, shares: Sequence[Share]) -> None:
        top, whole = box.top + 0.06, box.height - 0.12
        for share in shares:
            place = box.left + 0.05, top, STRIP * 0.8, whole * share.part
            key = share.key
            add_rectangle(self._axes, place, key.colour, panel(), zorder=4.2, hatch=key.hatch)
            top += whole * share.part

    def _aside(self, layout: GraphLayout) -> None:
        y = layout.aside_top
        self._axes.plot([0.1, layout.width - 0.1], [y, y], color=faint(), linewidth=0.8)
        text = "set aside: connected with so much that the edges are not drawn"
        _write(self._axes, 0.1, y + 0.14, text, ABOUT, ha="left", color=ink())
        for box in layout.aside:
            self._box(box)

    def _legend_rows(self, width: float) -> int:
        scale = SCALE_STEPS if self._paint.is_scaled else 0
        return -(-(len(self._paint.keys) + scale + 3) // max(int(width / 2.3), 1))

    def _draw_legend(self, width: float) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = [
            Patch(facecolor=key.colour, hatch=key.hatch, edgecolor=panel(), label=key.name)
            for key in self._paint.keys.values()
        ]
        if self._paint.is_scaled:
            handles += [
                Patch(facecolor=colour, edgecolor=faint(), linewidth=0.5, label=text)
                for colour, text in self._paint.scale(self._hottest)
            ]
            handles.append(Patch(facecolor=panel(), edgecolor=faint(), label="did not run"))
        links = self._folded.links.values()
        if any(link.tensors for link in links):
            handles.append(Line2D([], [], color=ink(), linewidth=1.2, label="tensors"))
        if any(not link.tensors for link in links):
            handles.append(
                Line2D([], [], color=ink(), linewidth=1.0, linestyle=":", label="control")
            )
        if self._marked:
            handles.append(Line2D([], [], linestyle="", label=f"{MARK} added"))
        if handles:
            self.figure.legend(
                handles=handles,
                loc="lower center",
                ncols=max(int(width / 2.3), 1),
                fontsize=8,
                frameon=False,
                labelcolor=ink(),
            )


def _write(axes: Axes, x: float, y: float, text: str, points: float, **look: Any) -> Any:
    look.setdefault("ha", "center")
    return axes.text(x, y, text, va="center", fontsize=points, **look)

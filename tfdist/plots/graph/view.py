"""A graph as it is to be shown: as a picture, in words, as DOT, in a file."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdist.plots.graph.colours import Paint
from tfdist.plots.graph.data import GraphNode, graph_nodes
from tfdist.plots.graph.dot import graph_dot
from tfdist.plots.graph.figure import about, folded_figure
from tfdist.plots.graph.layout import GraphLayout, layout_graph
from tfdist.plots.graph.scopes import DEPTH, fold_graph
from tfdist.plots.graph.scopes_data import Folded, Part
from tfdist.plots.graph.text import MOST_LINES, graph_sentence, graph_tree
from tfdist.plots.shared.palette import png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".dot", ".pb")
TALLEST = 7.0  # inches of a picture that fits a screen
FEWER = (28, 20, 14, 10)  # boxes that are tried then


class GraphView:
    """A graph, folded and coloured.

    Args:
      graph: a `Graph`, a `GraphDef`, or nodes from `graph_data.graph_nodes`.
      by: see `graph.graph_figure`, as for the others.
      depth: to which scopes are open.
      most: boxes to draw.
      devices: where nodes are, by name.
      times: microseconds that nodes took, by name; bytes for "memory".
      marked: names of nodes to be marked.
      with_times: whether durations are written.
      scope: name of the scope to show.
      fits: whether scopes are closed until the picture is no higher than a screen.

    Raises:
      ValueError: there is no such `by` or `scope`, or "time" or "memory" without `times`.

    Example:
      >>> import tfdist as tf
      >>> from tfdist.plots.graph.view import GraphView
      >>> with tf.Graph().as_default() as graph, tf.device("/job:ps"):
      ...     answer = tf.constant(42, name="answer")
      >>> GraphView(graph)
      <GraphView: Graph of 1 node on /job:ps, drawn as 1 box.>
    """

    def __init__(
        self,
        graph: Any,
        by: str = "device",
        depth: int = DEPTH,
        most: int | None = None,
        devices: Mapping[str, str] | None = None,
        times: Mapping[str, float] | None = None,
        marked: Collection[str] = (),
        with_times: bool = True,
        scope: str = "",
        fits: bool = False,
    ) -> None:
        self._fits = fits
        self._graph, self._marked, self._most = graph, frozenset(marked), most
        self._nodes = graph_nodes(graph, devices)
        self._paint = Paint(by, self._nodes, times, with_times)
        self._fold(depth, scope)

    def _fold(self, depth: int, scope: str) -> None:
        """Fold the graph, to no more than a screen shows if that is wanted."""
        self._scope = scope
        self._folded = fold_graph(self._nodes, depth, self._most, scope)
        for most in FEWER if self._fits else ():
            if self.layout().height <= TALLEST:
                break
            self._folded = fold_graph(self._nodes, depth, most, scope)

    @property
    def nodes(self) -> Sequence[GraphNode]:
        """Return the nodes of the graph, or of the scope that is shown."""
        return self._nodes

    @property
    def folded(self) -> Folded:
        """Return the graph as it is drawn."""
        return self._folded

    @property
    def paint(self) -> Paint:
        """Return what its colours mean."""
        return self._paint

    def layout(self) -> GraphLayout:
        """Return where everything stands."""
        return layout_graph(self._folded, partial(about, self._paint))

    @property
    def sentence(self) -> str:
        """Return what is shown, in one sentence."""
        return graph_sentence(self._nodes, self._folded, self._marked, self._scope)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return not self._nodes

    def figure(self) -> Figure:
        """Return the picture as a matplotlib `Figure`."""
        return folded_figure(self._nodes, self._folded, self._paint, self._marked)

    def to_text(self, most: int = MOST_LINES) -> str:
        """Return a tree of what the picture shows, with devices and edges, in `most` lines."""
        return graph_tree(self._nodes, self._folded, self._paint, self._marked, most)

    def to_dot(self) -> str:
        """Return what the picture shows in Graphviz's language."""
        return graph_dot(self._folded, self._paint)

    def closed(self) -> list[Part]:
        """Return the boxes that stand for a scope, largest first."""
        boxes = [*self._folded.leaves, *(part for part, _, _ in self._folded.aside)]
        scopes = {node.name.rpartition("/")[0] for node in self._nodes}
        scopes |= {
            "/".join(each.split("/")[:i]) for each in scopes for i in range(each.count("/") + 1)
        }
        found = [part for part in boxes if len(part.members) > 1 and part.name in scopes - {""}]
        return sorted(found, key=lambda part: -len(part.members))

    def inside(self, part: Part) -> GraphView:
        """Return what is in a closed box; of a series, in the first of its scopes."""
        found = copy(self)
        within = [self._nodes[i] for i in part.members]
        own = [n for n in within if n.name == part.name or n.name.startswith(f"{part.name}/")]
        found._nodes, found._paint = own, self._paint.among(own)
        found._marked = self._marked & {node.name for node in own}
        found._fold(DEPTH, part.name)
        return found

    def save(self, path: str) -> None:
        """Write the picture as FILE.png or FILE.svg, what it shows as FILE.dot, or the GraphDef.

        Args:
          path: FILE.png, FILE.svg, FILE.dot, or FILE.pb for the whole `GraphDef`.

        Raises:
          ValueError: `path` ends otherwise.
        """
        file = Path(path).expanduser()
        if file.suffix not in SUFFIXES:
            raise ValueError(f"a graph is saved as FILE{', FILE'.join(SUFFIXES)}, not as {path}")
        file.write_bytes(getattr(self, f"_{file.suffix[1:]}")())

    def _png(self) -> bytes:
        return png(self.figure())

    def _svg(self) -> bytes:
        from matplotlib import rc_context

        buffer = io.BytesIO()
        with rc_context({"svg.hashsalt": "tfdist"}):  # else its names are others each time
            self.figure().savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def _dot(self) -> bytes:
        return self.to_dot().encode()

    def _pb(self) -> bytes:
        graph = self._graph
        graph_def = graph.as_graph_def() if hasattr(graph, "as_graph_def") else graph
        data: bytes = graph_def.SerializeToString()
        return data

    def __repr__(self) -> str:
        return f"<GraphView: {self.sentence}>"

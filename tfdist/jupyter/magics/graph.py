"""`%graph` and `%%graph`: a graph, drawn; and a cell that adds to one."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from html import escape
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.errors import OpError
from tfdist.graph.graph import Graph
from tfdist.graph.scopes import get_default_graph
from tfdist.graph.stacks import get_default_session
from tfdist.jupyter.arguments import output_options, parse, positive, target_option, unquoted
from tfdist.jupyter.bundles import (
    Bundle,
    Style,
    picture_bundle,
    picture_html,
    sentence_bundle,
    still_style,
)
from tfdist.jupyter.cells import run_code
from tfdist.jupyter.html import details
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.sessions import session_for
from tfdist.jupyter.trace import recent
from tfdist.launch.clusters import find_cluster
from tfdist.plots.graph.colours import WAYS, bytes_of, times_of
from tfdist.plots.graph.data import around, graph_nodes
from tfdist.plots.graph.payload import graph_payload
from tfdist.plots.graph.scopes import DEPTH
from tfdist.plots.graph.view import GraphView
from tfdist.plots.shared.themes import drawn
from tfdist.web.browser_parts import GRAPH, live_view

MOST_INSIDES, MOST_PICTURES = 12, 4  # of closed scopes: that can be opened; with a picture inside
MOST_LINES = 24  # about a closed scope
WHOLE = 60  # nodes up to which a graph is drawn with all of what a cell did not add


@magics_class
class GraphMagic(Noun):
    """The magic `%graph`."""

    @no_var_expand
    @magic_arguments()
    @argument("name", nargs="?", type=unquoted, help="graph, variable, or name scope")
    @argument(
        "--by", choices=WAYS, default="device", help="what colours mean; time, memory: last trace"
    )
    @argument(
        "--depth", type=positive, default=DEPTH, help="1 opens no scope, 2 the outermost, ..."
    )
    @argument("--max-nodes", type=positive, metavar="N", help="boxes; beyond, scopes stay closed")
    @argument(
        "--save", type=unquoted, metavar="FILE", help="F.png, F.svg, F.dot or F.pb (GraphDef)"
    )
    @argument("--device", type=unquoted, metavar="D", help="%%%%graph: device of the cell's nodes")
    @argument("--new", action="store_true", help="%%%%graph: the cell makes a graph of its own")
    @argument("--extend", action="store_true", help="%%%%graph: the graph has to be there")
    @argument("--no-draw", action="store_true", help="%%%%graph: build only")
    @target_option
    @output_options("the graph")
    @line_cell_magic
    def graph(self, line: str, cell: str | None = None) -> None:
        """Draw a graph: scopes, edges with shapes, devices; or build a part of one, and draw that.

        %graph                  the default graph
        %graph other --by op    the graph in a variable, coloured by the kinds of ops
        %graph layer_1          what is in the scope layer_1
        %%graph --device /job:ps
        ...                     the cell's nodes on that device; what it added is marked
        """
        __tracebackhide__ = True
        arguments = parse(self.graph, line)
        if arguments is None:
            return
        if cell is None:
            self._draw_line(arguments)
        else:
            self._run_cell(arguments, cell)

    def _draw_line(self, arguments: Any) -> None:
        for option in ("device", "new", "extend", "no_draw"):
            if getattr(arguments, option):
                said = option.replace("_", "-")
                raise UsageError(f"%graph: --{said} belongs to %%graph, with code in the cell")
        graph, scope = self._found(arguments.name)
        self.keep(arguments.output, graph)
        self._draw(graph, graph, arguments, scope=scope)

    def _run_cell(self, arguments: Any, cell: str) -> None:
        __tracebackhide__ = True
        graph = self._graph_for_cell(arguments)
        before = len(graph.get_operations())
        device = graph.device(arguments.device) if arguments.device else contextlib.nullcontext()
        with graph.as_default(), device:
            value = run_code(self.shell, cell)
        self.keep(arguments.output, graph)
        added = {op.name for op in graph.get_operations()[before:]}
        if value is not None:
            self.shell.displayhook(value)
        if not arguments.no_draw:
            nodes = graph_nodes(graph)
            near = nodes if len(nodes) <= WHOLE or not added else around(nodes, added)
            # what is new need not be marked where there is nothing else
            self._draw(graph, near, arguments, added if len(added) < len(nodes) else ())

    def _draw(
        self, graph: Any, shown: Any, arguments: Any, marked: Any = (), scope: str = ""
    ) -> None:
        style = self.style()
        view = usage_errors(GraphView)(
            shown,
            arguments.by,
            arguments.depth,
            arguments.max_nodes,
            placed_devices(graph, arguments.target),
            _amounts(arguments.by),
            marked,
            style.times,
            scope,
            arguments.depth == DEPTH and arguments.max_nodes is None,
        )
        if arguments.save:
            whole = view if not arguments.save.endswith(".pb") else GraphView(graph)
            with drawn(style.theme):
                usage_errors(whole.save)(arguments.save)
            self.show([sentence_bundle(f"wrote {arguments.save}")], arguments.quiet)
        if not arguments.quiet:
            self.show(graph_bundles(view, style), quiet=False)

    def _found(self, name: str | None) -> tuple[Any, str]:
        """Return the graph that a name stands for, and the scope in it."""
        if name is None:
            return get_default_graph(), ""
        try:
            value = eval(name, self.shell.user_ns)
        except (NameError, SyntaxError):
            return get_default_graph(), name
        graph = value if _is_graph(value) else getattr(value, "graph", None)
        if not _is_graph(graph):
            raise UsageError(f"%graph: {name} is {type(value).__name__}, and has no graph")
        return graph, _scope_of(value, graph)

    def _graph_for_cell(self, arguments: Any) -> Graph:
        name = arguments.name
        if arguments.new and arguments.extend:
            raise UsageError("%%graph: --new or --extend, not both")
        if name is None:
            return Graph() if arguments.new else get_default_graph()
        if not name.isidentifier():
            raise UsageError(f"%%graph: {name!r} is no name for a variable")
        value = self.shell.user_ns.get(name)
        if value is not None and not isinstance(value, Graph):
            raise UsageError(f"%%graph: {name} is {type(value).__name__}, not a Graph")
        if value is None and arguments.extend:
            raise UsageError(f"%%graph: there is no graph {name}; try %%graph {name} --new")
        if value is None or arguments.new:
            value = Graph()
            self.keep(name, value)
        return value


def _amounts(by: str) -> Mapping[str, float] | None:
    """Return what the last trace told of nodes, by name; None if there is none."""
    if not recent:
        return None
    return (bytes_of if by == "memory" else times_of)(recent[-1].rows())


def placed_devices(graph: Any, target: str | None) -> Mapping[str, str] | None:
    """Return where the nodes of a graph would run, by name; None if only requests are known.

    Without a cluster everything is in one place, and requested devices say more. A graph that
    cannot be placed is drawn by them, too.
    """
    session: Any = get_default_session()
    own = session is not None and session.graph is graph and session.sess_str
    if not isinstance(graph, Graph) or not (target or own or find_cluster()):
        return None
    if not graph.get_operations():
        return None
    try:
        with session_for(graph.get_operations()[0], target) as asked:
            return {node.name: node.device for node in asked.placement(None) if node.device}
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OpError:
        return None


def graph_bundles(view: GraphView, style: Style) -> list[Bundle]:
    """Return the picture of a graph with its text, and what is in its closed scopes.

    Where scripts may run, they open in the picture.
    """
    text = view.to_text()
    if view.is_empty:
        return [sentence_bundle("The graph has no nodes; tf.constant(1.0) adds one.")]
    if not style.pictures:
        return [Bundle({"text/plain": f"{view.sentence}\n{text}".rstrip()})]
    if style.scripts:
        return [_opening(view, style, text)]
    shown = [picture_bundle(view.figure, view.sentence, style, text)]
    insides = [(part, view.inside(part)) for part in view.closed()[:MOST_INSIDES]]
    if insides:
        told = "\n".join(f"in {_indented(each)}" for _, each in insides)
        html = [
            details(each.sentence, _inside_html(each, style, i < MOST_PICTURES))
            for i, (_, each) in enumerate(insides)
        ]
        shown.append(Bundle({"text/plain": told, "text/html": "".join(html)}))
    return shown


def _opening(view: GraphView, style: Style, text: str) -> Bundle:
    """Return a graph whose scopes open in its picture, which stands where no script runs."""
    found = picture_bundle(view.figure, view.sentence, still_style(style), text)
    payload = graph_payload(view, _amounts("time"), _amounts("memory"))
    found.data["text/html"] = live_view(
        found.data["text/html"], GRAPH, "GraphPicture", payload, view.sentence
    )
    return found


def _indented(view: GraphView) -> str:
    lines = "\n".join(f"  {line}" for line in view.to_text(MOST_LINES).splitlines())
    return f"{view.sentence[0].lower()}{view.sentence[1:]}\n{lines}"


def _inside_html(view: GraphView, style: Style, with_picture: bool) -> str:
    if not with_picture:
        return f"<pre>{escape(view.to_text(MOST_LINES))}</pre>"
    return picture_html(view.figure, view.sentence, style)


def _scope_of(value: Any, graph: Any) -> str:
    """Return the scope of a variable, or of an operation that has one; "" for anything else."""
    name = getattr(getattr(value, "op", value), "name", "")
    nodes = graph.get_operations() if name and hasattr(graph, "get_operations") else ()
    return name if any(node.name.startswith(f"{name}/") for node in nodes) else ""


def _is_graph(value: Any) -> bool:
    return isinstance(value, Graph) or (hasattr(value, "node") and hasattr(value, "library"))

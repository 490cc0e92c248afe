"""The magics: each parses its line, calls one plain function and displays what that returns."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display
from traitlets import Enum, Float, Int, default

from tfdist.base.settings import CHOICES, setting
from tfdist.jupyter import bundles, clusters
from tfdist.jupyter.arguments import (
    gpus_option,
    help_option,
    output_options,
    parse,
    parse_before_code,
    positive,
    save_option,
    target_option,
    unquoted,
    variable,
)
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.cells import run_code
from tfdist.jupyter.placement import placement
from tfdist.jupyter.sessions import session_for, target_of
from tfdist.jupyter.trace import Trace, is_fetchable, recent, trace_call, write_timeline
from tfdist.jupyter.watch import show_in_place, told_in_place, watched
from tfdist.jupyter.why import why_bundles
from tfdist.launch.attached_cluster import attach
from tfdist.launch.clusters import DEFAULT_NAME, LOG_LINES, running_clusters
from tfdist.launch.outcome import Outcome
from tfdist.launch.server_process import START_TIMEOUT
from tfdist.launch.start import start_cluster
from tfdist.plots.blocks import members_of, unknown_names
from tfdist.plots.text import rounds_by_loop
from tfdist.plots.why import why
from tfdist.tracing.rows import rows

LIVE_MODES = CHOICES["TFDIST_LIVE"]
CLUSTER_VERBS = ("status", "start", "stop", "spec", "attach", "logs", "kill", "restart")


@magics_class
class TFDist(Magics):
    """%cluster, %trace, %placement, %timeline, %why; `%config TFDist` shows the settings."""

    shell: Any  # IPython sets it

    live = Enum(
        LIVE_MODES,
        help="auto: tables and pictures; text: plain text; off: as auto, but nothing that differs "
        "from run to run, such as times (for notebooks whose outputs are compared).",
    ).tag(config=True)
    max_rows = Int(200, min=1, help="Rows of a table; a note says how many were left out.").tag(
        config=True
    )
    max_boxes = Int(
        60, min=1, help="Boxes of a placement picture; beyond, scopes are drawn as one."
    ).tag(config=True)

    progress_after = Float(
        1.0, help="Seconds after which a traced run that waits says what for; -1 for never."
    ).tag(config=True)

    @default("live")
    def _live_from_environment(self) -> str:
        try:
            return setting("TFDIST_LIVE")
        except ValueError as error:  # no reason for cells to fail
            print(f"tfdist: {error}", file=sys.stderr)
            return LIVE_MODES[0]

    # %cluster

    @magic_arguments()
    @argument("verb", nargs="?", default="status", help=", ".join(CLUSTER_VERBS))
    @argument(
        "words",
        nargs="*",
        type=unquoted,
        help="start: JOB=N; attach: NAME, FILE.json, grpc://HOST:PORT or worker=HOST:PORT; logs, "
        "kill and restart: TASK, such as worker:1; others: NAME",
    )
    @argument("--ps", type=int, metavar="N", help="the same as ps=N")
    @argument("--worker", type=int, metavar="N", help="the same as worker=N")
    @argument("--name", type=unquoted, help='name of the cluster; "main" by default')
    @argument("--port", type=int, help="port of the first task; free ports by default")
    @argument("--devices", type=unquoted, help="devices of each task; cpu:1 by default")
    @gpus_option
    @argument("--processes", action="store_true", help="give each server a process of its own")
    @argument(
        "--engine",
        metavar="ENGINE",
        action="append",
        default=[],
        type=unquoted,
        help="tensorflow: servers of TensorFlow itself, in processes; or JOB=tensorflow",
    )
    @argument(
        "--python",
        metavar="PATH",
        type=unquoted,
        help="an interpreter that has TensorFlow; TFDIST_TENSORFLOW or this one by default",
    )
    @argument(
        "--trust-network",
        action="store_true",
        help="let TensorFlow's servers listen on all interfaces, open to all",
    )
    @argument(
        "--timeout", type=float, default=START_TIMEOUT, help="seconds to start; 30 by default"
    )
    @argument("--replace", action="store_true", help="stop a cluster of that name first")
    @argument("--lines", type=positive, default=LOG_LINES, help="logs: of each task; 20 by default")
    @argument("--all", action="store_true", help="stop all clusters")
    @argument("--json", action="store_true", help="spec: print it as JSON")
    @output_options("the cluster (by default: cluster), or for spec the ClusterSpec")
    @line_magic
    def cluster(self, line: str) -> None:
        """Start, show or stop a cluster of servers, or use one that another kernel started.

        %cluster start ps=1 worker=2     (then: tf.Session(cluster.target()))
        %cluster start --processes       (servers that can crash one by one)
        %cluster start --engine worker=tensorflow
        %cluster                         (one line per task)
        %cluster logs worker:1
        %cluster kill worker:1           (as a fault would)
        %cluster restart worker:1
        %cluster spec
        %cluster stop
        %cluster attach                  (in another notebook)
        """
        arguments = parse(self.cluster, line)
        if arguments is None:
            return
        if arguments.verb not in CLUSTER_VERBS:
            raise UsageError(
                f"%cluster {arguments.verb}: the verbs are {', '.join(CLUSTER_VERBS)}; "
                "try %cluster start ps=1 worker=2"
            )
        getattr(self, f"_cluster_{arguments.verb}")(arguments)

    def _cluster_status(self, arguments: Any) -> None:
        name = _name(arguments)
        found = [clusters.named_cluster(name)] if name else running_clusters()
        self._show([clusters.cluster_bundle(each) for each in found], arguments.quiet)
        if not found:
            self._show([bundles.sentence_bundle(clusters.NO_CLUSTER)], arguments.quiet)

    def _cluster_start(self, arguments: Any) -> None:
        engine = clusters.engine_of(arguments.engine)
        with told_in_place(self.live != "off" and not arguments.quiet) as progress:
            outcome = _usage_errors(start_cluster)(
                clusters.jobs_of(arguments),
                arguments.name or DEFAULT_NAME,
                arguments.port,
                clusters.cpus_of(arguments.devices),
                arguments.replace,
                arguments.processes,
                arguments.timeout,
                engine,
                arguments.python,
                arguments.trust_network,
                progress,
                arguments.gpus,
            )
        self._keep_cluster(outcome, arguments)

    def _cluster_attach(self, arguments: Any) -> None:
        what = next(iter(arguments.words), None)
        self._keep_cluster(_usage_errors(attach)(what, arguments.name), arguments)

    def _keep_cluster(self, outcome: Outcome, arguments: Any) -> None:
        found = clusters.started(outcome, arguments.verb)
        variable = arguments.output or "cluster"
        self.shell.push({variable: found})
        sentence = outcome.told(f", in the variable {variable}")
        self._show([clusters.cluster_bundle(found, sentence)], arguments.quiet)

    def _cluster_logs(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        lines = clusters.logs_of(found, next(iter(arguments.words), None), arguments.lines)
        self._show([clusters.logs_bundle(lines)], arguments.quiet)

    def _cluster_kill(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.kill(found, next(iter(arguments.words), None))
        self._show([clusters.cluster_bundle(found, sentence)], arguments.quiet)

    def _cluster_restart(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.restart(found, next(iter(arguments.words), None))
        self._show([clusters.cluster_bundle(found, sentence)], arguments.quiet)

    def _cluster_stop(self, arguments: Any) -> None:
        one = None if arguments.all else clusters.named_cluster(_name(arguments))
        found = running_clusters() if one is None else [one]
        for each in found:
            each.stop()
        sentences = [clusters.stop_sentence(each) for each in found] or [clusters.NO_CLUSTER]
        self._show(map(bundles.sentence_bundle, sentences), arguments.quiet)

    def _cluster_spec(self, arguments: Any) -> None:
        found = clusters.named_cluster(_name(arguments))
        if arguments.output:
            self.shell.push({arguments.output: found.spec})
        if arguments.json:
            shown = Bundle({"text/plain": json.dumps(found.spec.as_dict(), indent=1)})
        else:
            shown = bundles.spec_bundle(found.spec)
        self._show([shown], arguments.quiet)

    # %trace and %%trace

    @no_var_expand
    @magic_arguments()
    @argument("--whole", action="store_true", help="list all nodes that make loops go round, too")
    @save_option
    @target_option
    @output_options("the Trace")
    @line_cell_magic
    def trace(self, line: str, cell: str | None = None) -> None:
        """Run code and show every node that it ran, every transfer, and when.

        %trace EXPR     a tensor, operation or variable is run in a session; other code as it is
        %%trace         code of a cell; all runs of sessions in it are recorded
        """
        __tracebackhide__ = True
        arguments, code = parse_before_code(self.trace, line)
        if arguments is None:
            return
        if cell is not None and code:
            raise UsageError(f"%%trace takes options only; {code!r} belongs into the cell")
        if not code and cell is None:
            raise UsageError("%trace needs something to run: try %trace sess.run(c)")
        value, found = self._traced(code if cell is None else cell, arguments)
        if arguments.output:
            self.shell.push({arguments.output: found})
        self._save(arguments.save, found.run().metadata.step_stats if arguments.save else None)
        if value is not None:
            self.shell.displayhook(value)
        shown = bundles.trace_bundles(found, self._style(), arguments.whole)
        self._show(shown, arguments.quiet)

    def _traced(self, code: str, arguments: Any) -> tuple[Any, Trace]:
        __tracebackhide__ = True
        asked = arguments.target
        target = None if asked is None else _usage_errors(target_of)(asked) or "local"

        def call() -> Any:
            __tracebackhide__ = True
            if target is None:
                return self._run(code)
            with session_for(None, target) as session, session.as_default():
                return self._run(code)

        try:
            with watched(self._watch_after(), show_in_place):
                return trace_call(call)
        except BaseException:
            if arguments.output:
                self.shell.push({arguments.output: recent[-1]})
            raise

    def _run(self, code: str) -> Any:
        """Return the value of `code`; if that is something to fetch, its value in a session."""
        __tracebackhide__ = True
        value = run_code(self.shell, code)
        if not is_fetchable(value):
            return value
        with session_for(value) as session:
            return session.run(value)

    # %placement

    @no_var_expand
    @magic_arguments()
    @argument("fetches", nargs="*", help="what is to be fetched; the whole graph by default")
    @argument(
        "--open",
        metavar="NAME",
        action="append",
        default=[],
        type=unquoted,
        help="a loop or cond to draw with its inside, such as while; '*' for all; may be repeated",
    )
    @argument("--traced", action="store_true", help="the nodes of the last trace, loops counted")
    @target_option
    @output_options("the list of placed nodes")
    @line_magic
    def placement(self, line: str) -> None:
        """Draw which device each node runs on, and say why; nothing runs.

        %placement                  the whole default graph
        %placement c d              what the fetches c and d need
        %placement --open while c   with the inside of the loop `while`
        %placement --traced         what the last trace ran
        """
        arguments = parse(self.placement, line)
        if arguments is None:
            return
        nodes, rounds = self._placed(arguments)
        unknown = unknown_names(nodes, arguments.open)
        if unknown:
            names = sorted({path[-1].name for path in members_of(nodes)})
            told = f"there are {', '.join(names)}" if names else "there are none"
            raise UsageError(f"%placement: no loop or cond is called {unknown[0]}; {told}")
        if arguments.output:
            self.shell.push({arguments.output: nodes})
        shown = bundles.placement_bundles(nodes, self._style(), arguments.open, rounds)
        self._show(shown, arguments.quiet)

    def _placed(self, arguments: Any) -> tuple[list[Any], dict[str, str]]:
        """Return the nodes to draw, and how often their loops went round if that is known."""
        if not arguments.traced:
            fetches = self._fetches(" ".join(arguments.fetches)) if arguments.fetches else None
            return _usage_errors(placement)(fetches, arguments.target), {}
        if arguments.fetches or not recent or not recent[-1].complete_runs:
            raise UsageError("%placement --traced: trace first (%trace ...), and name no fetches")
        return list(recent[-1].run().nodes), rounds_by_loop(recent[-1].rows())

    def _fetches(self, code: str) -> list[Any]:
        found = [self._fetch(text) for text in _expressions(code)]
        return found[0] if len(found) == 1 and isinstance(found[0], list) else found

    def _fetch(self, text: str) -> Any:
        try:
            value = eval(text, self.shell.user_ns)
        except (NameError, SyntaxError):
            return text  # a name in the graph
        if not (isinstance(value, str) or is_fetchable(value)):
            raise UsageError(f"%placement: {text} is {type(value).__name__}, nothing to fetch")
        return value

    # %timeline

    @magic_arguments()
    @argument("variable", nargs="?", type=variable, help="a Trace or RunMetadata; the last trace")
    @argument("--step", type=int, default=-1, help="which run of the trace; the last by default")
    @argument("-q", "--quiet", action="store_true", help="display nothing")
    @help_option
    @save_option
    @line_magic
    def timeline(self, line: str) -> None:
        """Draw when each node of a run ran and what crossed between devices."""
        arguments = parse(self.timeline, line)
        if arguments is None:
            return
        step_stats = self._step_stats(arguments.variable, arguments.step)
        self._save(arguments.save, step_stats)
        found = rows(step_stats)
        style = self._style()
        shown = [*bundles.timeline_bundles(found, style), bundles.totals_bundle(found, style)]
        self._show(shown, arguments.quiet)

    def _step_stats(self, name: str | None, step: int) -> Any:
        if name is None and not recent:
            raise UsageError("%timeline: nothing was traced yet; try %trace sess.run(c)")
        value = recent[-1] if name is None else self.shell.user_ns.get(name)
        if isinstance(value, Trace):
            try:
                return value.run(step).metadata.step_stats
            except IndexError as error:
                raise UsageError(f"%timeline: {error}") from None
        if hasattr(value, "step_stats"):
            return value.step_stats
        raise UsageError(f"%timeline: {name} is neither a Trace (%trace -o VAR) nor a RunMetadata")

    # %why

    @magic_arguments()
    @argument(
        "target",
        nargs="?",
        type=unquoted,
        help="grpc://HOST:PORT, or what %%cluster attach takes; by default this kernel is asked",
    )
    @output_options("what was found (`tfdist.why`)")
    @line_magic
    def why(self, line: str) -> None:
        """Say what every step in flight waits for, and why; deadlocks are named.

        %why                     this kernel's sessions and clusters
        %why grpc://HOST:PORT    the cluster of a server
        """
        arguments = parse(self.why, line)
        if arguments is None:
            return
        found = why(arguments.target)
        if arguments.output:
            self.shell.push({arguments.output: found})
        self._show(why_bundles(found, self._style()), arguments.quiet)

    # for all

    def _watch_after(self) -> float:
        in_kernel = hasattr(self.shell, "kernel")  # elsewhere no display can be updated
        return self.progress_after if self.live == "auto" and in_kernel else -1.0

    def _style(self) -> Style:
        pictures = self.live != "text" and hasattr(self.shell, "kernel")
        return Style(self.live != "off", pictures, self.max_rows, self.max_boxes)

    def _show(self, shown: Iterable[Bundle], quiet: bool) -> None:
        for bundle in () if quiet else shown:
            each = bundle.text_only() if self.live == "text" else bundle
            display(each.data, raw=True, metadata=each.metadata)

    def _save(self, path: str | None, step_stats: Any) -> None:
        if path:
            _usage_errors(write_timeline)(path, step_stats)


def _name(arguments: Any) -> str | None:
    return arguments.name or next(iter(arguments.words), None)


def _expressions(code: str) -> list[str]:
    """Return the expressions in "c d", "c, d" or "[c, d]"."""
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:
        return code.replace(",", " ").split()
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    return [ast.unparse(part) for part in parts]


def _usage_errors(function: Any) -> Any:
    """Return `function` with its ValueErrors as one-line UsageErrors."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError as error:
            raise UsageError(str(error)) from None

    return call

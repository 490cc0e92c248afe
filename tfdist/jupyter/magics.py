"""The magics: each parses its line, calls one plain function and displays what that returns."""

from __future__ import annotations

import ast
import json
import os
import re
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

from tfdist.jupyter import bundles
from tfdist.jupyter.arguments import (
    help_option,
    output_options,
    parse,
    parse_before_code,
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
from tfdist.jupyter.watch import show_in_place, watched
from tfdist.launch.local_cluster import (
    LocalCluster,
    find_cluster,
    running_clusters,
    start_local_cluster,
)
from tfdist.tracing.rows import rows

LIVE_MODES = ("auto", "text", "off")
NO_CLUSTER = "no cluster runs; start one with: %cluster start ps=1 worker=2"


@magics_class
class TFDist(Magics):
    """%cluster, %trace, %placement and %timeline; `%config TFDist` shows the settings."""

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
        mode = os.environ.get("TFDIST_LIVE", "auto")
        return mode if mode in LIVE_MODES else "auto"

    # %cluster

    @magic_arguments()
    @argument("verb", nargs="?", default="status", help="status, start, stop or spec")
    @argument("words", nargs="*", type=unquoted, help="JOB=N to start; NAME of the others")
    @argument("--ps", type=int, metavar="N", help="the same as ps=N")
    @argument("--worker", type=int, metavar="N", help="the same as worker=N")
    @argument("--name", type=unquoted, help='name of the cluster; "main" by default')
    @argument("--port", type=int, help="port of the first task; free ports by default")
    @argument("--devices", type=unquoted, help="devices of each task; cpu:1 by default")
    @argument("--replace", action="store_true", help="stop a cluster of that name first")
    @argument("--all", action="store_true", help="stop all clusters")
    @argument("--json", action="store_true", help="spec: print it as JSON")
    @output_options("the cluster (by default: cluster), or for spec the ClusterSpec")
    @line_magic
    def cluster(self, line: str) -> None:
        """Start, show or stop a cluster of servers inside this kernel.

        %cluster start ps=1 worker=2     (then: tf.Session(cluster.target()))
        %cluster                         (one line per task)
        %cluster spec
        %cluster stop
        """
        arguments = parse(self.cluster, line)
        if arguments is None:
            return
        verbs = {
            "status": self._cluster_status,
            "start": self._cluster_start,
            "stop": self._cluster_stop,
            "spec": self._cluster_spec,
        }
        if arguments.verb not in verbs:
            raise UsageError(
                f"%cluster {arguments.verb}: the verbs are {', '.join(verbs)}; "
                "try %cluster start ps=1 worker=2"
            )
        verbs[arguments.verb](arguments)

    def _cluster_status(self, arguments: Any) -> None:
        found = _named(arguments) if _name(arguments) else running_clusters()
        self._show([bundles.cluster_bundle(each) for each in found], arguments.quiet)
        if not found:
            self._show([bundles.sentence_bundle(NO_CLUSTER)], arguments.quiet)

    def _cluster_start(self, arguments: Any) -> None:
        jobs = _jobs(arguments)
        cpus = _cpus(arguments.devices)
        try:
            outcome = start_local_cluster(
                jobs, arguments.name or "main", arguments.port, cpus, arguments.replace
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        if outcome.cluster is None:
            raise UsageError(f"%cluster start: {outcome.cause}; {outcome.remedy}")
        variable = arguments.output or "cluster"
        self.shell.push({variable: outcome.cluster})
        sentence = f"{outcome}, in the variable {variable}"
        self._show([bundles.cluster_bundle(outcome.cluster, sentence)], arguments.quiet)

    def _cluster_stop(self, arguments: Any) -> None:
        found = running_clusters() if arguments.all else _named(arguments)
        for each in found:
            each.stop()
        sentences = [
            f"stopped cluster {each.name!r}: {len(each.servers)} servers, their ports are free"
            for each in found
        ]
        self._show(map(bundles.sentence_bundle, sentences or [NO_CLUSTER]), arguments.quiet)

    def _cluster_spec(self, arguments: Any) -> None:
        (found,) = _named(arguments)
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
        self._show(bundles.trace_bundles(found, self._style()), arguments.quiet)

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
    @target_option
    @output_options("the list of placed nodes")
    @line_magic
    def placement(self, line: str) -> None:
        """Draw which device each node runs on, and say why; nothing runs.

        %placement          the whole default graph
        %placement c d      what the fetches c and d need
        """
        arguments = parse(self.placement, line)
        if arguments is None:
            return
        fetches = self._fetches(" ".join(arguments.fetches)) if arguments.fetches else None
        nodes = _usage_errors(placement)(fetches, arguments.target)
        if arguments.output:
            self.shell.push({arguments.output: nodes})
        self._show(bundles.placement_bundles(nodes, self._style()), arguments.quiet)

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


def _named(arguments: Any) -> list[LocalCluster]:
    """Return the cluster that the arguments name; by default the last one."""
    name = _name(arguments)
    found = find_cluster(name)
    if found is None:
        names = ", ".join(repr(each.name) for each in running_clusters())
        raise UsageError(f"no cluster {name!r} runs; running: {names}" if names else NO_CLUSTER)
    return [found]


def _jobs(arguments: Any) -> dict[str, int]:
    """Return the jobs that the words and the options --ps and --worker ask for."""
    jobs = {job: n for job in ("ps", "worker") if (n := getattr(arguments, job)) is not None}
    for word in arguments.words:
        match = re.fullmatch(r"([A-Za-z]\w*)=(\d+)", word)
        if not match:
            raise UsageError(f"%cluster start: {word!r} is not JOB=N; try ps=1 worker=2")
        jobs[match[1]] = int(match[2])
    return jobs or {"ps": 1, "worker": 2}


def _cpus(devices: str | None) -> int:
    match = re.fullmatch(r"(?i)cpu:(\d+)", devices or "cpu:1")
    if not match:
        raise UsageError(f"%cluster start: --devices {devices}: try cpu:2, two CPUs for each task")
    return int(match[1])


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

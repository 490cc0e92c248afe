"""`%timeline`: when each node of a run ran."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter import steps, views
from tfdist.jupyter.arguments import output_options, parse, save_option, variable
from tfdist.jupyter.export import Export, timeline_export
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.player import StepPlayer
from tfdist.jupyter.traced_steps import TracedStep, traced_step
from tfdist.plots.timeline.comparison import comparison_figure
from tfdist.plots.timeline.rpc_diagram import rpcs_figure
from tfdist.tracing.calls import calls_of
from tfdist.tracing.steps.rows import rows


@magics_class
class TimelineMagic(Noun):
    """The magic `%timeline`."""

    @magic_arguments()
    @argument("variable", nargs="?", type=variable, help="a Trace or RunMetadata; the last trace")
    @argument("--step", type=int, default=-1, help="which run of the trace; the last by default")
    @argument("--play", action="store_true", help="play the run over its placed graph")
    @argument("--rpcs", action="store_true", help="who called whom: a sequence diagram")
    @argument(
        "--against",
        metavar="VAR",
        type=variable,
        help="another Trace or RunMetadata: both on one time axis, and what differs most",
    )
    @save_option
    @output_options("the RunMetadata of the step; with --play, the StepPlayer")
    @line_magic
    def timeline(self, line: str) -> None:
        """Draw when each node of a run ran and what crossed between devices.

        %timeline                        the last trace
        %timeline before --step 0        the first run of the trace in the variable `before`
        %timeline --play                 it runs over the placed graph, to be watched and scrubbed
        %timeline --rpcs                 who called whom, as a sequence diagram
        %timeline before --against after both on one time axis, and what differs most
        """
        arguments = parse(self.timeline, line)
        if arguments is None:
            return
        if arguments.rpcs + arguments.play + bool(arguments.against) > 1:
            raise UsageError("%timeline takes one of --play, --rpcs and --against")
        seen = self._seen(arguments.variable, arguments.step)
        self.keep(arguments.output, seen.metadata)
        if arguments.play:
            self._play(seen, arguments)
        elif arguments.against:
            self._compare(seen, arguments)
        elif arguments.rpcs:
            self._show_calls(seen, arguments)
        else:
            self._show_timeline(seen, arguments)

    def _show_timeline(self, seen: TracedStep, arguments: Any) -> None:
        self.save(arguments.save, timeline_export(seen.metadata, seen.nodes), arguments.quiet)
        found = rows(seen.metadata.step_stats)
        style = self.style()
        shown = steps.timeline_bundles(found, style, seen.made_at)
        shown.append(steps.totals_bundle(found, style))
        self.show(shown, arguments.quiet)

    def _play(self, seen: TracedStep, arguments: Any) -> None:
        if not seen.metadata.step_stats.dev_stats:
            raise UsageError("%timeline --play: the step has no statistics; try %trace sess.run(c)")
        player = StepPlayer(seen.metadata, nodes=seen.nodes)
        self.keep(arguments.output, player)
        self.save(arguments.save, Export(player.figure, seen.metadata, seen.nodes), arguments.quiet)
        if not arguments.quiet:
            player.show()

    def _show_calls(self, seen: TracedStep, arguments: Any) -> None:
        calls = calls_of(seen.metadata.step_stats, seen.calls, seen.fetches)
        self.save(
            arguments.save,
            Export(lambda: rpcs_figure(calls), seen.metadata, seen.nodes),
            arguments.quiet,
        )
        self.show(views.rpcs_bundles(calls, self.style()), arguments.quiet)

    def _compare(self, seen: TracedStep, arguments: Any) -> None:
        other = self._seen(arguments.against, arguments.step)
        names = (arguments.variable or "the last trace", arguments.against)
        a, b = (rows(each.metadata.step_stats) for each in (seen, other))
        self.save(arguments.save, Export(lambda: comparison_figure(a, b, names)), arguments.quiet)
        self.show(views.comparison_bundles(a, b, names, self.style()), arguments.quiet)

    def _seen(self, name: str | None, step: int) -> TracedStep:
        return traced_step(self.shell.user_ns, "timeline", name, step)

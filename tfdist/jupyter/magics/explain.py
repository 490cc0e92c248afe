"""`%explain`: why a step took as long as it did."""

from __future__ import annotations

from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter.arguments import output_options, parse, save_option, variable
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.traced_steps import traced_step
from tfdist.jupyter.views import explanation_bundles
from tfdist.plots.timeline.critical_path import critical_path_figure
from tfdist.tracing.critical_path import critical_path
from tfdist.tracing.rows import rows


@magics_class
class ExplainMagic(Noun):
    """The magic `%explain`."""

    @magic_arguments()
    @argument("variable", nargs="?", type=variable, help="a Trace or RunMetadata; the last trace")
    @argument("--step", type=int, default=-1, help="which run of the trace; the last by default")
    @save_option
    @output_options("the CriticalPath")
    @line_magic
    def explain(self, line: str) -> None:
        """Say why a traced step took so long: its critical path, and what would shorten it.

        %explain                  the last trace
        %explain before --step 0  the first run of the trace in the variable `before`

        After `%trace -n 50 ...` it also says what was on the critical path of how many runs.
        """
        arguments = parse(self.explain, line)
        if arguments is None:
            return
        seen = traced_step(self.shell.user_ns, "explain", arguments.variable, arguments.step)
        found = rows(seen.metadata.step_stats)
        path = critical_path(found)
        figure = Export(lambda: critical_path_figure(found, path), seen.metadata, seen.nodes)
        self.save(arguments.save, figure)
        self.keep(arguments.output, path)
        self.show(explanation_bundles(found, path, seen.repetitions, self.style()), arguments.quiet)

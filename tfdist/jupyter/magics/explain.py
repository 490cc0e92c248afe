"""`%explain`: why a step took as long as it did."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter.arguments import (
    output_options,
    parse_before_code,
    positive,
    save_option,
    target_option,
    variable,
)
from tfdist.jupyter.bundles import Bundle
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.sessions import target_of
from tfdist.jupyter.trace import Trace
from tfdist.jupyter.traced_code import runner, traced_code
from tfdist.jupyter.traced_steps import TracedStep, traced_step
from tfdist.jupyter.views import against_bundles, check_bundle, explanation_bundles
from tfdist.launch.causal_check import checked_savings
from tfdist.launch.clusters import find_cluster
from tfdist.plots.timeline.critical_path import critical_path_figure
from tfdist.tracing.steps.critical_path import critical_path
from tfdist.tracing.steps.path_spread import typical
from tfdist.tracing.steps.replay import median_savings
from tfdist.tracing.steps.rows import rows

LAST = "the last trace"


@magics_class
class ExplainMagic(Noun):
    """The magic `%explain`."""

    @no_var_expand
    @magic_arguments()
    @argument("-n", "--repeat", type=positive, metavar="N",
              help="runs: so many new ones of the code, or the last ones of the trace")  # fmt: skip
    @argument("--against", type=variable, metavar="VAR",
              help="a Trace of other runs: how much longer or shorter is a step?")  # fmt: skip
    @argument("--step", type=int,
              help="which run of the trace; the one of median length by default")  # fmt: skip
    @argument("--check", action="store_true", help="run the code with everything slowed, and with "
              "all but one task or link: what does it really save?")  # fmt: skip
    @save_option
    @target_option
    @output_options("the CriticalPath; of new runs, their Trace")
    @line_magic
    def explain(self, line: str) -> None:
        """Say why a traced step took so long: its critical path, and what would shorten it.

        %explain                        the last trace
        %explain before --step 0        the first run of the trace in the variable `before`
        %explain -n 50 sess.run(train)  fifty new runs: what most of a step is, and its spread
        %explain -n 50 --against before sess.run(train)
                                        and whether they differ from those, by how much, how sure
        %explain -n 20 --check sess.run(train)
                                        and whether a faster task or link would save what is said

        Options come first. `%trace -n 50 -o before sess.run(train)` keeps runs to compare with.
        """
        __tracebackhide__ = True
        arguments, code = parse_before_code(self.explain, line)
        if arguments is None:
            return
        name, new = self._asked(arguments, code)
        seen = self._step(arguments, name)
        paths = [critical_path(each) for each in seen.repetitions]
        if arguments.step is None and len(paths) > 1:
            found = seen.repetitions[typical(paths)]
        else:
            found = rows(seen.metadata.step_stats)
        path = critical_path(found)
        figure = Export(lambda: critical_path_figure(found, path), seen.metadata, seen.nodes)
        self.save(arguments.save, figure, arguments.quiet)
        self.keep(arguments.output, path if new is None else new)
        is_compared = bool(arguments.against)
        shown = explanation_bundles(found, path, seen.repetitions, self.style(), is_compared)
        if arguments.check:
            shown.append(self._checked(arguments, code, new, seen))
        if is_compared:
            other = traced_step(self.shell.user_ns, "explain", arguments.against)
            names = (arguments.against, name or ("the new runs" if new else LAST))
            shown = [*against_bundles(other.repetitions, paths, names, self.style()), *shown]
        self.show(shown, arguments.quiet)

    def _asked(self, arguments: Any, code: str) -> tuple[str | None, Trace | None]:
        """Return the name of the variable that is meant, or the trace of code that was run."""
        __tracebackhide__ = True
        if not code:
            return None, None
        value = self.shell.user_ns.get(code)
        is_traced = isinstance(value, Trace) or hasattr(value, "step_stats")
        if code.isidentifier() and (is_traced or arguments.repeat is None):
            return code, None
        asked = arguments.target
        target = None if asked is None else usage_errors(target_of)(asked) or "local"
        watch_after = self.settings.watch_after()
        _, new = traced_code(self.shell, code, arguments.repeat or 1, target, watch_after)
        return None, new

    def _checked(self, arguments: Any, code: str, new: Trace | None, seen: TracedStep) -> Bundle:
        """Return what slowing all but one part showed, for the parts of which most was said."""
        cluster = find_cluster()
        if new is None or cluster is None:
            raise UsageError(
                "%explain --check runs code on a cluster that %cluster started: "
                "%explain -n 20 --check sess.run(op)"
            )
        target = None if arguments.target is None else target_of(arguments.target) or "local"
        savings = median_savings(seen.repetitions)
        found = checked_savings(
            cluster, runner(self.shell, code, target), seen.repetitions, savings
        )
        return check_bundle(found, self.style())

    def _step(self, arguments: Any, name: str | None) -> TracedStep:
        step = -1 if arguments.step is None else arguments.step
        seen = traced_step(self.shell.user_ns, "explain", name, step)
        wanted, there = arguments.repeat or 0, len(seen.repetitions)
        if wanted > there:
            raise UsageError(
                f"%explain -n {wanted}: {name or LAST} has {there} run{'s' * (there != 1)} of that "
                f"step; give the code that makes them: %explain -n {wanted} sess.run(op)"
            )
        return seen._replace(repetitions=seen.repetitions[-wanted:]) if wanted else seen

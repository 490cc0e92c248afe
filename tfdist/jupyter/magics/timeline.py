"""`%timeline`: when each node of a run ran."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter import bundles
from tfdist.jupyter.arguments import help_option, parse, save_option, variable
from tfdist.jupyter.magics.noun import Noun, save
from tfdist.jupyter.trace import Trace, recent
from tfdist.tracing.rows import rows


@magics_class
class TimelineMagic(Noun):
    """Timelines."""

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
        if arguments.save:
            save(arguments.save, step_stats)
        found = rows(step_stats)
        style = self.style()
        shown = [*bundles.timeline_bundles(found, style), bundles.totals_bundle(found, style)]
        self.show(shown, arguments.quiet)

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

"""`%trace` and `%%trace`: run code, and show what ran where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter import steps, views
from tfdist.jupyter.arguments import (
    output_options,
    parse_before_code,
    positive,
    save_option,
    target_option,
)
from tfdist.jupyter.bundles import Bundle, sentence_bundle
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.sessions import target_of
from tfdist.jupyter.trace import Trace
from tfdist.jupyter.traced_code import traced_code
from tfdist.plots.timeline.device_activity import devices_figure


@magics_class
class TraceMagic(Noun):
    """The magic `%trace`."""

    @no_var_expand
    @magic_arguments()
    @argument(
        "-n",
        "--repeat",
        type=positive,
        default=1,
        metavar="N",
        help="run it N times, and show what each device did over all runs",
    )
    @argument("--whole", action="store_true", help="list all nodes that make loops go round, too")
    @save_option
    @target_option
    @output_options("the Trace")
    @line_cell_magic
    def trace(self, line: str, cell: str | None = None) -> None:
        """Run code and show every node that it ran, every transfer, and when.

        %trace EXPR     a tensor, operation or variable is run in a session; other code as it is
        %%trace         code of a cell; all runs of sessions in it are recorded
        %trace -n 50 c  fifty runs: what each device did, and how far the runs were apart
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
        if arguments.save and not found.complete_runs:
            raise UsageError(f"%trace --save {arguments.save}: no run of a session came to its end")
        if arguments.save:
            self.save(arguments.save, self._export(found, arguments.repeat), arguments.quiet)
        if value is not None:
            self.shell.displayhook(value)
        self.show(self._shown(found, arguments), arguments.quiet)

    def _shown(self, found: Trace, arguments: Any) -> list[Bundle]:
        style = self.style()
        if arguments.repeat == 1 or not found.complete_runs:
            return steps.trace_bundles(found, style, arguments.whole)
        last, alike = replace(found, runs=(found.run(),)), found.repetitions()
        others = len(found.complete_runs) - len(alike)
        note = f"{others} of {others + len(alike)} runs fetched something else: code that makes "
        note += "nodes makes new ones each time; make them before, and run them here."
        return [
            *views.devices_bundles(alike, style),
            *([sentence_bundle(note)] if others else []),
            *steps.trace_bundles(last, style, arguments.whole),
        ]

    def _export(self, found: Trace, repeat: int) -> Export:
        what = found.export()
        if repeat == 1:
            return what
        return replace(what, figure=lambda: devices_figure(found.repetitions()))

    def _traced(self, code: str, arguments: Any) -> tuple[Any, Trace]:
        __tracebackhide__ = True
        asked = arguments.target
        target = None if asked is None else usage_errors(target_of)(asked) or "local"
        return traced_code(
            self.shell, code, arguments.repeat, target, self.settings.watch_after(),
            lambda found: self.keep(arguments.output, found),
        )  # fmt: skip

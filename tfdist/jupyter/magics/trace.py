"""`%trace` and `%%trace`: run code, and show what ran where."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter import bundles
from tfdist.jupyter.arguments import output_options, parse_before_code, save_option, target_option
from tfdist.jupyter.cells import run_code
from tfdist.jupyter.magics.noun import Noun, save, usage_errors
from tfdist.jupyter.sessions import session_for, target_of
from tfdist.jupyter.trace import Trace, is_fetchable, recent, trace_call
from tfdist.jupyter.watch import show_in_place, watched


@magics_class
class TraceMagic(Noun):
    """Traced runs."""

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
        self.keep(arguments.output, found)
        if arguments.save:
            save(arguments.save, found.run().metadata.step_stats)
        if value is not None:
            self.shell.displayhook(value)
        shown = bundles.trace_bundles(found, self.style(), arguments.whole)
        self.show(shown, arguments.quiet)

    def _traced(self, code: str, arguments: Any) -> tuple[Any, Trace]:
        __tracebackhide__ = True
        asked = arguments.target
        target = None if asked is None else usage_errors(target_of)(asked) or "local"

        def call() -> Any:
            __tracebackhide__ = True
            if target is None:
                return self._run(code)
            with session_for(None, target) as session, session.as_default():
                return self._run(code)

        try:
            with watched(self.settings.watch_after(), show_in_place):
                return trace_call(call)
        except BaseException:
            self.keep(arguments.output, recent[-1])
            raise

    def _run(self, code: str) -> Any:
        """Return the value of `code`; if that is something to fetch, its value in a session."""
        __tracebackhide__ = True
        value = run_code(self.shell, code)
        if not is_fetchable(value):
            return value
        with session_for(value) as session:
            return session.run(value)

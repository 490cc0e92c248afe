"""`%placement`: where each node runs, and why."""

from __future__ import annotations

import ast
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter.arguments import (
    natural,
    output_options,
    parse,
    save_shown_option,
    target_option,
    unquoted,
)
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.placement import optimized, placement
from tfdist.jupyter.placements import placement_bundles
from tfdist.jupyter.trace import is_fetchable, recent
from tfdist.jupyter.views import optimization_bundles
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.shared.blocks import members_of, unknown_names
from tfdist.plots.text import rounds_by_loop

OPTIMIZE = "optimize"  # the verb; a fetch of that name is asked for as [optimize]


@magics_class
class PlacementMagic(Noun):
    """The magic `%placement`."""

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
    @argument(
        "--runs",
        type=natural,
        default=20,
        help="of optimize: timed ones, and as many traced "
        "ones; 0: none, what units took so far counts",
    )
    @argument("--move-state", action="store_true", help="of optimize: variables and queues may "
              "move; they begin uninitialised elsewhere")  # fmt: skip
    @argument("--traced", action="store_true", help="the nodes of the last trace, loops counted")
    @target_option
    @save_shown_option
    @output_options("the list of placed nodes")
    @line_magic
    def placement(self, line: str) -> None:
        """Draw which device each node runs on, and say why; nothing runs.

        %placement                  the whole default graph
        %placement c d              what the fetches c and d need
        %placement --open while c   with the inside of the loop `while`
        %placement --traced         what the last trace ran
        %placement optimize c       where they should run: measured, simulated, then tried

        `optimize` runs the fetches some 120 times. Its result, with -o, has a `session()` and a
        `device_function()` for the placement that was found.
        """
        arguments = parse(self.placement, line)
        if arguments is None:
            return
        if arguments.fetches[:1] == [OPTIMIZE]:
            self._optimize(arguments)
            return
        nodes, rounds = self._placed(arguments)
        unknown = unknown_names(nodes, arguments.open)
        if unknown:
            names = sorted({path[-1].name for path in members_of(nodes)})
            told = f"there are {', '.join(names)}" if names else "there are none"
            raise UsageError(f"%placement: no loop or cond is called {unknown[0]}; {told}")
        self.keep(arguments.output, nodes)
        shown = placement_bundles(nodes, self.style(), arguments.open, rounds)
        boxes, opened = self.settings.max_boxes, arguments.open
        draw = lambda: placement_figure(nodes, boxes, opened, rounds)  # noqa: E731
        self.show_and_save(shown, arguments, draw)

    def _optimize(self, arguments: Any) -> None:
        """Find a placement, run it beside the present one, and show both."""
        wanted = arguments.fetches[1:]
        if not wanted or arguments.traced or arguments.open:
            raise UsageError("%placement optimize: say what is to be fetched, without options: "
                             "%placement optimize train_op loss")  # fmt: skip
        fetches = self._fetches(" ".join(wanted))
        found, verdict = usage_errors(optimized, "%placement optimize")(
            fetches, arguments.target, arguments.runs, arguments.move_state
        )
        self.keep(arguments.output, found)
        self.show_and_save(optimization_bundles(found, verdict, self.style()), arguments)

    def _placed(self, arguments: Any) -> tuple[list[Any], dict[str, str]]:
        """Return the nodes to draw, and how often their loops went round if that is known."""
        if not arguments.traced:
            fetches = self._fetches(" ".join(arguments.fetches)) if arguments.fetches else None
            return usage_errors(placement, "%placement")(fetches, arguments.target), {}
        if arguments.fetches or not recent:
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


def _expressions(code: str) -> list[str]:
    """Return the expressions in "c d", "c, d" or "[c, d]"."""
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:
        return code.replace(",", " ").split()
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    return [ast.unparse(part) for part in parts]

"""`%queues`: how full queues are, and who waits at them."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter.arguments import (
    check_watch,
    output_options,
    parse,
    save_shown_option,
    unquoted,
    watch_options,
)
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.panels import freeze_panels
from tfdist.jupyter.queues import QueuePanel, queue_bundles
from tfdist.launch.census import take_census
from tfdist.launch.clusters import find_cluster
from tfdist.plots.live.census import ClusterCensus
from tfdist.plots.live.queues import chosen
from tfdist.plots.live.queues_figure import fills_figure
from tfdist.tracing.census_history import CensusHistory


@magics_class
class QueuesMagic(Noun):
    """The magic `%queues`."""

    @magic_arguments()
    @argument(
        "pattern",
        nargs="?",
        default="",
        type=unquoted,
        help="what names have in them, or match: batch, '*/fifo*'",
    )
    @argument(
        "-t",
        "--target",
        type=unquoted,
        help="grpc://HOST:PORT, or what %%cluster attach takes; by default the cluster started "
        "last, or this kernel's sessions",
    )
    @argument("--all", action="store_true", help="barriers, variables and other resources too")
    @watch_options
    @save_shown_option
    @output_options("the QueuePanel, or without --watch the tfdist.census")
    @line_magic
    def queues(self, line: str) -> None:
        """Show queues: how full they are, whether they are closed, and which nodes wait.

        %queues                     once
        %queues batch --watch       while other cells run, until panel.close() or Ctrl-C
        %queues --watch --for 10    ten seconds
        %queues --all               and what tasks hold besides, container by container
        """
        arguments = parse(self.queues, line)
        if arguments is None:
            return
        check_watch(arguments, "%queues")
        target = arguments.target or find_cluster()
        if arguments.watch:
            freeze_panels(target, QueuePanel)  # of the same cell, run again
            panel = QueuePanel(
                target, arguments.pattern, arguments.interval, self.settings.live, arguments.all
            )
            self.keep(arguments.output or "panel", panel)
            panel.show(arguments.seconds)
            self.save(arguments.save, Export(panel.figure, shown=panel.bundles(self.style())))
            return
        self._show_once(target, arguments)

    def _show_once(self, target: Any, arguments: Any) -> None:
        history = CensusHistory()
        history.add(0.0, take_census(target, arguments.all))
        self.keep(arguments.output, ClusterCensus(history))
        shown = queue_bundles(history, self.style(), arguments.pattern, arguments.all)
        stocks = chosen(history.last.stocks, arguments.pattern, arguments.all)
        self.show_and_save(shown, arguments, lambda: fills_figure(history, stocks))

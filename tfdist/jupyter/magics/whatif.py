"""`%whatif`: what training would come to on a cluster that nobody has started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.base import quantities
from tfdist.errors import InvalidArgumentError
from tfdist.jupyter.arguments import (
    argument_type,
    natural,
    output_options,
    parse,
    positive,
    save_option,
    variable,
)
from tfdist.jupyter.bundles import Bundle, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.explorer import ScalingExplorer
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.sessions import session_for
from tfdist.jupyter.traced_steps import traced_step
from tfdist.plots.scaling.figure import scaling_figure
from tfdist.plots.scaling.text import (
    scaling_sentence,
    scaling_table,
    setup_sentence,
    spares_sentence,
    spares_table,
)
from tfdist.session.link_probe import probed_bandwidth
from tfdist.simulation.calibration import setup_of, tells_bandwidth
from tfdist.simulation.scaling import Scaling, scaling, spread_over
from tfdist.simulation.scaling_grid import MOST_SPARE, scaling_grid
from tfdist.simulation.training import TrainingSetup

# Option -> the field of a setup that it sets.
FIELDS = {
    "ps": "ps",
    "compute": "compute_s",
    "spread": "sigma",
    "pull": "pull_bytes",
    "push": "push_bytes",
    "latency": "latency_s",
    "overlap": "overlap",
}

# Option -> (type, name of the value, help).
OPTIONS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "--workers": (argument_type(quantities.counts), "A:B", "1:100 if not said"),
    "--ps": (positive, "N", "parameter servers"),
    "--spare": (natural, "N", "with --sync: 0 to N replicas more than an update waits for"),
    "--straggle": (
        argument_type(quantities.straggling),
        "P:F",
        "1%%:5: one gradient of 100 takes 5 times as long",
    ),
    "--from": (
        variable,
        "VAR",
        "Trace of one worker's steps; by default the last, if any is needed",
    ),
    "--compute": (argument_type(quantities.duration), "T", "of a gradient: 50ms"),
    "--spread": (float, "S", "standard deviation of its logarithm: 0.2"),
    "--pull": (argument_type(quantities.size), "SIZE", "what a worker reads in a step: 100MB"),
    "--push": (argument_type(quantities.size), "SIZE", "what it sends"),
    "--bandwidth": (argument_type(quantities.rate), "R", "of each machine: 1GB/s"),
    "--latency": (argument_type(quantities.duration), "T", "of a step's messages: 1ms"),
    "--overlap": (
        argument_type(quantities.share),
        "P",
        "of the transfers: hidden behind computing",
    ),
    "--batch": (positive, "N", "examples of a gradient"),
    "--price": (float, "P", "of a machine for an hour"),
    "--seed": (natural, "N", "of the random numbers"),
}


def setup_options(magic: Any) -> Any:
    """Add `OPTIONS` and --sync."""
    for option, (type_, metavar, text) in reversed(OPTIONS.items()):
        magic = argument(option, type=type_, metavar=metavar, help=text)(magic)
    text = "gradients of a step are averaged; without, each worker updates on its own"
    return argument("--sync", action="store_true", help=text)(magic)


@magics_class
class WhatifMagic(Noun):
    """The magic `%whatif`."""

    @magic_arguments()
    @argument("what", nargs="?", help="train: throughput over numbers of workers")
    @setup_options
    @argument("--sliders", action="store_true", help="curves to explore in place of the picture")
    @save_option
    @output_options("the Scaling")
    @line_magic
    def whatif(self, line: str) -> None:
        """Say how training would scale: simulated, with the times of a trace or with yours.

        %whatif train --workers 1:200 --ps 16                   as the last trace was
        %whatif train --workers 1:50 --sync --spare 4 --straggle 1%:5
        %whatif train --compute 1.3s --pull 100MB --push 100MB --bandwidth 1GB/s --ps 16
        %whatif train --workers 1:100 --ps 4 --sliders          servers, spares and stragglers

        Options override what the trace says. Nothing is started; 1,000 workers take a second.
        """
        arguments = parse(self.whatif, line)
        if arguments is None:
            return
        if arguments.what != "train":
            asked = f"{arguments.what!r} is asked for" if arguments.what else "nothing is asked for"
            raise UsageError(f"%whatif: {asked}; there is train: try %whatif train --workers 1:50")
        try:
            setup, origin = self._setup(arguments)
            workers = spread_over(*arguments.workers or (1, 100))
            spare, seed = arguments.spare or 0, arguments.seed or 0
            found = scaling(setup, workers, arguments.sync, spare, seed)
        except InvalidArgumentError as error:
            raise UsageError(f"%whatif: {error.message}") from None
        self.save(
            arguments.save,
            Export(lambda: scaling_figure(found, arguments.batch or 0)),
            arguments.quiet,
        )
        self.keep(arguments.output, found)
        shown = self._bundles(found, arguments, origin)
        if arguments.sliders and not arguments.quiet:
            beside = [each for each in shown if "image/png" in each.data]
            shown = [each for each in shown if "image/png" not in each.data]
            self._explore(setup, arguments, beside)
        self.show(shown, arguments.quiet)

    def _explore(self, setup: TrainingSetup, arguments: Any, beside: Sequence[Bundle]) -> None:
        """Show curves to explore, around a setup."""
        spare = MOST_SPARE if arguments.spare is None else arguments.spare
        least, most = arguments.workers or (1, 100)
        grid = scaling_grid(setup, least, most, spare, arguments.seed or 0)
        ScalingExplorer(grid, arguments.batch or 0, beside).show()

    def _setup(self, arguments: Any) -> tuple[TrainingSetup, str]:
        """Return the setup of one worker, and where it is from."""
        setup, origin = TrainingSetup(), ""
        trace = getattr(arguments, "from")
        if arguments.compute is None or trace:
            seen = traced_step(self.shell.user_ns, "whatif", trace)
            steps, probed = seen.repetitions, 0.0
            if arguments.bandwidth is None and steps and not tells_bandwidth(steps):
                with session_for() as session:
                    probed = probed_bandwidth(session, steps)
            setup = setup_of(steps, probed=probed, calls_s=seen.calls_s)
            by_probe = ", the bandwidth from a probe" * bool(probed)
            origin = f" (from {len(steps)} traced runs{by_probe})"
        told = {field: getattr(arguments, option) for option, field in FIELDS.items()}
        changes = {field: value for field, value in told.items() if value is not None}
        if {"compute_s", "sigma"} & set(changes):
            changes["samples_s"] = ()
        if arguments.bandwidth is not None:
            changes |= {
                "ps_bandwidth": arguments.bandwidth,
                "worker_bandwidth": arguments.bandwidth,
            }
        if arguments.straggle is not None:
            changes["straggle_share"], changes["straggle_factor"] = arguments.straggle
        return replace(setup, **changes), origin

    def _bundles(self, found: Scaling, arguments: Any, origin: str) -> list[Bundle]:
        batch, price, style = arguments.batch or 0, arguments.price or 0.0, self.style()
        sentence = scaling_sentence(found, batch)
        is_fixed = style.times or not origin  # what is traced differs from run to run
        if not is_fixed:
            return [sentence_bundle("How training would scale.")]
        table = scaling_table(found, batch, price)
        shown = [table_bundle(table, f"{sentence} {setup_sentence(found.setup, origin)}")]
        if style.pictures:
            shown.insert(0, picture_bundle(lambda: scaling_figure(found, batch), sentence, style))
        if found.spares:
            shown.append(table_bundle(spares_table(found), spares_sentence(found)))
        return shown

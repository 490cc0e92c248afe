"""What `%load_ext tfdist`, `%unload_ext` and `%reload_ext` do. Clusters outlive all of them."""

from __future__ import annotations

import sys
from typing import Any

from tfdist.base.extras import missing_line, missing_of
from tfdist.jupyter import completion, errors, formatters, live
from tfdist.jupyter.magics.cluster import ClusterMagic
from tfdist.jupyter.magics.explain import ExplainMagic
from tfdist.jupyter.magics.graph import GraphMagic
from tfdist.jupyter.magics.histograms import HistogramsMagic
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.magics.on import OnMagic
from tfdist.jupyter.magics.placement import PlacementMagic
from tfdist.jupyter.magics.queues import QueuesMagic
from tfdist.jupyter.magics.tfdist import TfdistMagic
from tfdist.jupyter.magics.timeline import TimelineMagic
from tfdist.jupyter.magics.trace import TraceMagic
from tfdist.jupyter.magics.whatif import WhatifMagic
from tfdist.jupyter.magics.why import WhyMagic
from tfdist.jupyter.settings import TFDist

EXTRA = "notebook"

NOUNS: tuple[type[Noun], ...] = (
    ClusterMagic,
    ExplainMagic,
    GraphMagic,
    HistogramsMagic,
    OnMagic,
    PlacementMagic,
    QueuesMagic,
    TfdistMagic,
    TimelineMagic,
    TraceMagic,
    WhatifMagic,
    WhyMagic,
)


def magic_names() -> list[str]:
    """Return the names of all magics."""
    by_kind = [noun.magics.values() for noun in NOUNS]
    return sorted({name for kinds in by_kind for names in kinds for name in names})


def load_ipython_extension(shell: Any) -> None:
    """Add the magics, the rich displays and the notes below errors to `shell`."""
    settings = TFDist(shell)
    missing = missing_of(EXTRA)
    if missing:
        told = f"tfdist: {missing_line(missing[0])}; until then magics answer in text"
        print(told, file=sys.stderr)
    for noun in NOUNS:
        shell.register_magics(noun(shell, settings))
    formatters.register(shell, settings.style)
    errors.register(shell)
    completion.register(shell, magic_names())
    shell.events.register("post_run_cell", live.freeze_after_interrupt)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away; servers keep running, and what moves stands still."""
    live.freeze_all()
    shell.events.unregister("post_run_cell", live.freeze_after_interrupt)
    errors.unregister(shell)
    completion.unregister(shell, magic_names())
    formatters.unregister(shell)
    for noun in NOUNS:
        for kind, names in noun.magics.items():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
    # else `%config TFDist` would go on changing the magics that are gone
    ours = (TFDist, *NOUNS)
    shell.configurables[:] = [each for each in shell.configurables if type(each) not in ours]

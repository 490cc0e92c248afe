"""What `%load_ext tfdist`, `%unload_ext` and `%reload_ext` do. Clusters outlive all of them."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter import formatters
from tfdist.jupyter.magics.cluster import ClusterMagic
from tfdist.jupyter.magics.noun import Noun
from tfdist.jupyter.magics.placement import PlacementMagic
from tfdist.jupyter.magics.timeline import TimelineMagic
from tfdist.jupyter.magics.trace import TraceMagic
from tfdist.jupyter.magics.why import WhyMagic
from tfdist.jupyter.settings import TFDist

NOUNS: tuple[type[Noun], ...] = (
    ClusterMagic,
    PlacementMagic,
    TimelineMagic,
    TraceMagic,
    WhyMagic,
)


def load_ipython_extension(shell: Any) -> None:
    """Add the magics and the rich displays to `shell`."""
    settings = TFDist(shell)
    for noun in NOUNS:
        shell.register_magics(noun(shell, settings))
    formatters.register(shell, settings.style)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away; servers keep running."""
    formatters.unregister(shell)
    for noun in NOUNS:
        for kind, names in noun.magics.items():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
    # else `%config TFDist` would go on changing the magics that are gone
    ours = (TFDist, *NOUNS)
    shell.configurables[:] = [each for each in shell.configurables if type(each) not in ours]

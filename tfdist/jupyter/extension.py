"""What `%load_ext tfdist`, `%unload_ext` and `%reload_ext` do. Clusters outlive all of them."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter import formatters
from tfdist.jupyter.magics import TFDist


def load_ipython_extension(shell: Any) -> None:
    """Add the magics and the rich displays to `shell`."""
    magics = TFDist(shell=shell)
    shell.register_magics(magics)
    formatters.register(shell, magics._style)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away; servers keep running."""
    formatters.unregister(shell)
    for kind, names in TFDist.magics.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    # else `%config TFDist` would go on changing the magics that are gone
    shell.configurables[:] = [each for each in shell.configurables if type(each) is not TFDist]

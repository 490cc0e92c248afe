"""What `%tfdist doctor` says of the notebook, beside what `tfdist doctor` says of the installation.

What ipykernel does with calls of the front end and with what threads print has changed twice within
a year: the version says which rules hold here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from tfdist.base.extras import installed
from tfdist.errors import OpError
from tfdist.jupyter.clusters import about
from tfdist.jupyter.settings import TFDist
from tfdist.launch.clusters import Cluster, port_of, running_clusters
from tfdist.launch.doctor import Finding, examine
from tfdist.launch.outcome import cause_of
from tfdist.plots.shared.tables import Table

LATE = "a widget's buttons act when the cell has ended"
AT_ONCE = "a widget's buttons act at once, on a thread of their own"
OWN_CELL = "what a thread prints stands below the cell that started it"
THIS_CELL = "what a thread prints stands below the cell that runs then"

# First version of ipykernel -> what holds from there on, as was measured with JupyterLab 4.6.
RULES = (
    ((0,), f"{LATE}; {OWN_CELL}"),
    ((7, 0), f"{AT_ONCE}; {THIS_CELL}"),
    ((7, 4), f"{LATE}; {THIS_CELL}"),
)
FRONT_ENDS = {
    "COLAB_RELEASE_TAG": "Colab",
    "VSCODE_PID": "VS Code",
    "JPY_SESSION_NAME": "a Jupyter server",
}
WIDGETS = {"8": "3", "7": "1"}  # of ipywidgets -> of jupyterlab_widgets, which shows them


def findings(settings: TFDist) -> Iterator[Finding]:
    """Yield what is found, the installation first.

    Args:
      settings: of the magics.
    """
    yield Finding("tfdist", installed("tfdist"))
    yield from examine({"notebook"})
    yield Finding("IPython", installed("ipython"))
    yield Finding("kernel", _kernel_told(settings))
    yield Finding("front end", _front_end_told())
    yield _widgets()
    yield Finding("live", f"%config TFDist.live = {settings.live!r}, theme = {settings.theme!r}")
    for cluster in running_clusters():
        yield _cluster(cluster, settings.live != "off")  # ports differ from run to run


def findings_table(found: list[Finding]) -> Table:
    """Return the findings; what is wrong says so in a third column."""
    cells = tuple((each.name, each.told, "see to it" if each.is_wrong else "") for each in found)
    if not any(each.is_wrong for each in found):
        return Table(("what", "found"), tuple(cell[:2] for cell in cells))
    return Table(("what", "found", ""), cells)


def kernel_rules(version: str) -> str:
    """Return what a version of ipykernel means for buttons and for threads that print."""
    numbers = numbers_of(version)
    return next((rules for first, rules in reversed(RULES) if numbers >= first), "")


def numbers_of(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: (7, 4, 0) for "7.4.0a1"."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _kernel_told(settings: TFDist) -> str:
    found = installed("ipykernel")
    if not hasattr(settings.parent, "kernel"):
        return "none: a terminal has no pictures, and nothing in it is rewritten"
    return f"ipykernel {found}: {kernel_rules(found)}; Interrupt ends a run in either case"


def _front_end_told() -> str:
    names = [name for variable, name in FRONT_ENDS.items() if variable in os.environ]
    lab = installed("jupyterlab")
    told = ", ".join(names) or "not told"
    return f"{told}; JupyterLab {lab} is installed beside the kernel" if lab else told


def _widgets() -> Finding:
    found, shows = installed("ipywidgets"), installed("jupyterlab_widgets")
    if not found:
        return Finding("widgets", "none: pictures stand still", is_wrong=True)
    wanted = WIDGETS.get(found.partition(".")[0], "")
    if shows and wanted and shows.partition(".")[0] != wanted:
        told = f"jupyterlab_widgets {shows} does not show those of ipywidgets {found}"
        return Finding("widgets", f"{told}: pip install 'jupyterlab_widgets=={wanted}.*'", True)
    server = f"jupyterlab_widgets {shows}" if shows else "the server needs jupyterlab_widgets"
    return Finding("widgets", f"ipywidgets {found}, shown by {server}; closed when a run has ended")


def _cluster(cluster: Cluster, with_ports: bool) -> Finding:
    """Return how the servers of a cluster are, and at which ports."""
    try:
        rows: list[Any] = cluster.status()
    except (OSError, OpError) as error:
        return Finding("cluster", f"{about(cluster)}: {cause_of(error)}", is_wrong=True)
    down = [f"{row.task} {row.state}" for row in rows if row.state != "up"]
    ports = ", ports " + ", ".join(str(port_of(row.address)) for row in rows)
    state = "; ".join(down) or "all up"
    return Finding("cluster", f"{about(cluster)}{ports * with_ports}: {state}", bool(down))

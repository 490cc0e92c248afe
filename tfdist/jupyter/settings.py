"""The settings of the magics: what `%config TFDist` shows."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.getipython import get_ipython
from traitlets import Enum, Float, Int, TraitError, default
from traitlets.config import Configurable

from tfdist.base.extras import is_there
from tfdist.base.settings import CHOICES, setting
from tfdist.jupyter.bundles import Style
from tfdist.launch.clusters import find_cluster
from tfdist.plots.shared.device_colours import place_tasks
from tfdist.plots.shared.themes import AUTO, THEME_CHOICES

LIVE_MODES = CHOICES["TFDIST_LIVE"]


def settings_in_use() -> TFDist | None:
    """Return the settings of the extension; None where it is not loaded."""
    found = [each for each in getattr(get_ipython(), "configurables", ()) if type(each) is TFDist]
    return found[-1] if found else None


def live_mode() -> str:
    """Return how outputs are shown that move: the setting, or what the environment says."""
    found = settings_in_use()
    return str(found.live) if found else setting("TFDIST_LIVE")


def remember_cluster() -> None:
    """Let devices have the colours of their places in the cluster that was started last."""
    cluster = find_cluster()
    if cluster is not None:
        place_tasks((job, index) for job, index, _ in cluster.spec.tasks())


def style_in_use() -> Style:
    """Return how much is shown where nothing else is asked for."""
    found = settings_in_use()
    if found is None:
        remember_cluster()
    return found.style() if found else Style(pictures=hasattr(get_ipython(), "kernel"))


class TFDist(Configurable):
    """How the magics and the rich displays show what they show.

    Args:
      shell: IPython's; its `%config` finds the settings.
    """

    live = Enum(
        LIVE_MODES,
        help="auto: tables and pictures; text: plain text; off: as auto, but nothing that differs "
        "from run to run, such as times (for notebooks whose outputs are compared).",
    ).tag(config=True)
    max_rows = Int(200, min=1, help="Rows of a table; a note says how many were left out.").tag(
        config=True
    )
    max_boxes = Int(
        60, min=1, help="Boxes of a placement picture; beyond, scopes are drawn as one."
    ).tag(config=True)

    theme = Enum(
        THEME_CHOICES,
        default_value=AUTO,
        help="Of the notebook that pictures are for; auto: they follow it, where scripts may run.",
    ).tag(config=True)
    progress_after = Float(
        1.0, help="Seconds after which a traced run that waits says what for; -1 for never."
    ).tag(config=True)

    def __init__(self, shell: Any) -> None:
        try:
            super().__init__(parent=shell)
        except TraitError as error:  # %config keeps a wrong value, and says so when it is set
            print(f"tfdist: {error} The defaults are in use: %config TFDist", file=sys.stderr)
            del shell.config["TFDist"]
            super().__init__(parent=shell)
        shell.configurables.append(self)

    @default("live")
    def _live_from_environment(self) -> str:
        try:
            return setting("TFDIST_LIVE")
        except ValueError as error:  # no reason for cells to fail
            print(f"tfdist: {error}", file=sys.stderr)
            return LIVE_MODES[0]

    def watch_after(self) -> float:
        """Return the seconds after which a run that waits says what for; negative for never."""
        return self.progress_after if self.live == "auto" and self._in_kernel() else -1.0

    def style(self) -> Style:
        """Return how much is shown; devices have the colours of the cluster that was used last."""
        remember_cluster()
        pictures = self.live != "text" and self._in_kernel() and is_there("matplotlib")
        return Style(
            times=self.live != "off",
            pictures=pictures,
            most_rows=self.max_rows,
            most_boxes=self.max_boxes,
            theme=self.theme,
            scripts=pictures and self.live != "off",  # outputs without times are compared
        )

    def _in_kernel(self) -> bool:
        return hasattr(self.parent, "kernel")  # a terminal has no pictures, and updates nothing

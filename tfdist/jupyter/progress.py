"""`tfdist.progress` where it is shown: an output of a notebook, or tqdm's line in a terminal.

In a notebook it is no widget but one output that is updated: whatever ends the loop, and whenever
the notebook is saved, what was reached stands there.
"""

from __future__ import annotations

import sys
import time
from html import escape
from io import StringIO
from typing import Any

from tfdist.base.settings import setting
from tfdist.training.sessions.progress import EVERY, Progress

_FORMAT = "{n_fmt} of {total_fmt}{unit} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"
_ENDLESS = "{n_fmt}{unit} [{elapsed}, {rate_fmt}{postfix}]"
_WIDTH, _HEIGHT = 240, 14  # CSS pixels of the bar
COLOURS = {"running": "#0072b2", "done": "#009e73", "stopped": "#d55e00"}


def new_progress(iterable: Any = None, loss: Any = None, **options: Any) -> Progress:
    """Return a bar for where this runs; see `Progress` for the arguments."""
    mode, in_kernel = _surroundings()
    if mode == "off":
        options["disable"] = True
    if not in_kernel:
        return Progress(iterable, loss, **options)
    return NotebookProgress(iterable, loss, mode == "auto", **options)


def _surroundings() -> tuple[str, bool]:
    """Return how outputs are shown that move, and whether this is a notebook's kernel."""
    if "IPython" not in sys.modules:
        return setting("TFDIST_LIVE"), False
    from tfdist.jupyter.live import is_in_kernel
    from tfdist.jupyter.settings import live_mode

    return live_mode(), is_in_kernel()


class NotebookProgress(Progress):
    """A bar in the output of a cell.

    Args:
      iterable: see `Progress`.
      loss: see `Progress`.
      pictured: whether a bar is drawn; else it is text alone.
      **options: see `Progress`.
    """

    def __init__(
        self, iterable: Any = None, loss: Any = None, pictured: bool = True, **options: Any
    ) -> None:
        self._pictured, self._next = pictured, 0.0
        self._handle: Any = None
        super().__init__(iterable, loss, **{"file": StringIO(), "ncols": 60} | options)

    def display(self, msg: str | None = None, pos: int | None = None, **_: Any) -> bool:
        """Show how far it is, five times a second at most; `msg` "" takes it away."""
        now = time.monotonic()
        if not self.disable and now < self._next:
            return False
        self._next = now + EVERY
        self._show({"text/plain": ""} if msg == "" else self._bundle())
        return True

    @property
    def state(self) -> str:
        """Return "running", "done" or "stopped"."""
        is_whole = self.total is None or self.n >= self.total
        if self.disable:
            return "done" if is_whole else "stopped"
        return "done" if self.total is not None and is_whole else "running"

    def _bundle(self) -> dict[str, str]:
        layout = _FORMAT if self.total else _ENDLESS
        known = self.format_dict | {"ncols": None, "prefix": "", "bar_format": layout}
        name = f"{self.desc.removesuffix(': ')}: " if self.desc else ""
        line = f"{name}{self.format_meter(**known).rstrip()} {self.state}"
        if not self._pictured:
            return {"text/plain": line}
        bar = bar_html(self.n / self.total, COLOURS[self.state]) if self.total else ""
        return {"text/plain": line, "text/html": f"<div>{bar}{escape(line)}</div>"}

    def _show(self, data: dict[str, str]) -> None:
        from IPython.display import DisplayHandle

        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)


def bar_html(part: float, colour: str) -> str:
    """Return a bar that is full as far as `part`, from 0 to 1."""
    full = round(_WIDTH * max(0.0, min(1.0, part)))
    frame = (
        f"display:inline-block;vertical-align:middle;width:{_WIDTH}px;height:{_HEIGHT}px;"
        f"margin-right:10px;border:1px solid {colour}"
    )
    inner = f"width:{full}px;height:100%;background-color:{colour}"
    return f'<div style="{frame}"><div style="{inner}"></div></div>'

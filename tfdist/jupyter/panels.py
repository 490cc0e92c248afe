"""Panels: what a cluster does, seen while it does it.

A thread takes a census some times a second and updates one widget, in one message, if anything has
changed. No step waits for it. A panel ends when its time is over, when somebody says so, when its
cluster is stopped, after Ctrl-C in any cell, or with the kernel; then it stands still (`live`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from tfdist.errors import OpError
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.live import Live, Way, is_in_kernel, way_of
from tfdist.jupyter.settings import live_mode, style_in_use
from tfdist.launch.census import CensusTaker, about
from tfdist.launch.clusters import Cluster, find_cluster
from tfdist.plots.shared.tables import Table
from tfdist.tracing.census_history import CensusHistory

if TYPE_CHECKING:
    from tfdist.jupyter.widgets.panel_widget import PanelWidget
    from tfdist.plots.shared.palette import Figure

EVERY = 0.2  # seconds between two looks, at least
_LOOK_UP = 0.1  # seconds in which a wait sees Ctrl-C and the end
_PATIENCE = 2.0  # seconds that the thread has to end


class Panel:
    """Something that is watched, and shown in one output, once.

    Args:
      target: what is watched: a cluster, or anything else that `tfdist.census` takes.
      every: seconds between two looks; 0.2 at least.
      live: "auto", "text" or "off"; by default what `%config TFDist.live` says.

    Attributes:
      history: what was seen.
    """

    least = EVERY  # seconds between two looks
    holdings = False  # whether variables are asked for, one by one

    def __init__(self, target: Any = None, every: float = EVERY, live: str | None = None) -> None:
        self._target, self._every = target, max(every, self.least)
        self._live_mode, self.history = live or live_mode(), CensusHistory()
        self._taker = CensusTaker(target)
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._live: Live | None = None
        self._widget: PanelWidget | None = None
        self._sight: tuple[float, float] | None = None

    # what kinds of panels say

    def bundles(self, style: Style) -> Sequence[Bundle]:
        """Return what stands there in the end."""
        raise NotImplementedError

    def html(self) -> str:
        """Return what the widget shows now."""
        raise NotImplementedError

    def line(self) -> str:
        """Return what is to be said now in one line."""
        raise NotImplementedError

    def figure(self) -> Figure:
        """Return what was seen as a matplotlib `Figure`."""
        raise NotImplementedError

    def table(self) -> Table:
        """Return what was seen last."""
        raise NotImplementedError

    def to_text(self) -> str:
        """Return what was seen last, as text."""
        raise NotImplementedError

    # its life

    def show(self, seconds: float | None = None, quiet: bool = False) -> Self:
        """Display it in the cell that runs, and go on watching in the background.

        Args:
          seconds: to watch, and to wait here until that is over; by default it goes on until
            `freeze`, `close` or Ctrl-C, while other cells run. In a terminal it waits here.
          quiet: whether it only watches, and displays nothing; a terminal does not wait then.

        Raises:
          KeyboardInterrupt: Ctrl-C while it waits; it stands still then.
        """
        if self._live is not None:
            return self
        way = Way.NONE if quiet else way_of(self._live_mode)
        self._live = Live(self._still, way, repr(self)[1:-1], self._over.set, self._beside)
        try:
            self._look()
            _panels.append(self)
            self._live.show(self._new_widget() if way is Way.WIDGET else None)
            self._live.tell(self.line())  # from here: the place of a thread's output is not sure
            if not self._live.is_frozen:
                self._begin(seconds, quiet)
        except BaseException:
            self.freeze()
            raise
        if self._live.is_frozen:
            self._end()
        return self

    def _begin(self, seconds: float | None, quiet: bool) -> None:
        self._thread = threading.Thread(target=self._watch, name="tfdist-panel", daemon=True)
        self._thread.start()
        if seconds is not None or not (quiet or is_in_kernel()):
            self._wait(seconds)

    @property
    def is_watching(self) -> bool:
        """Return whether it is shown and goes on."""
        return self._live is not None and not self._live.is_frozen

    def freeze(self) -> None:
        """Stand still from now on: picture, table and text in the place of the widget."""
        if self._live is not None:
            self._live.freeze()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE)
        self._end()

    def close(self) -> None:
        """Do as `freeze`; a panel that was never shown lets go of what it holds."""
        self.freeze()

    def __enter__(self) -> Self:
        return self.show()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{about(self._target)}>"

    def _wait(self, seconds: float | None) -> None:
        assert self._live is not None
        until = None if seconds is None else time.monotonic() + seconds
        try:
            while not self._over.wait(_LOOK_UP) and (until is None or time.monotonic() < until):
                self._live.tell(self.line())
        finally:
            self.freeze()

    def _watch(self) -> None:
        pause = self._every
        try:
            if _style(self._live_mode).pictures:
                self.figure()  # what this imports, the end of a kernel does not wait for
            while not self._over.wait(pause) and not self._has_stopped():
                began = time.monotonic()
                self._look()
                self._update()
                pause = max(self._every, time.monotonic() - began)  # half of the time at most
        finally:
            assert self._live is not None
            self._live.freeze()
            self._end()

    def _has_stopped(self) -> bool:
        """Return whether the cluster was stopped, or is being stopped just now."""
        cluster = self._target
        return isinstance(cluster, Cluster) and find_cluster(cluster.name) is not cluster

    def look(self) -> None:
        """Take a census now, for a panel that is not shown by itself."""
        self._look()

    def _look(self) -> None:
        try:
            found = self._taker.take(self.holdings)
        except OpError:
            return  # a session was closed, or a cluster stopped, just now
        if not self._over.is_set() and not self._has_stopped():
            self.history.add(time.monotonic() - self._began, found)

    def _update(self) -> None:
        if self._over.is_set():
            return
        widget = self._widget  # which another thread may close now
        if widget is not None:
            widget.update(self.html(), self.history.seconds)
        if self._live is not None:
            self._live.tell(self.line())
            self._live.keep()

    def _new_widget(self) -> PanelWidget:
        from tfdist.jupyter.widgets.panel_widget import (
            PanelWidget,  # ipywidgets takes a while to import
        )

        self._widget = PanelWidget(repr(self)[1:-1], self.html(), self._freeze_at)
        return self._widget

    def _freeze_at(self, seconds: float, sight: tuple[float, float] | None = None) -> None:
        """Stand still as it was then: who asked for it may have waited for a kernel since.

        Args:
          seconds: that had been watched.
          sight: from when to when it was zoomed into, in seconds; None for the whole.
        """
        self._sight = sight
        self._over.set()
        self.history.cut(seconds)

    def _still(self) -> Sequence[Bundle]:
        return self.bundles(_style(self._live_mode))

    def _beside(self) -> Sequence[Bundle]:
        return self.bundles(replace(_style(self._live_mode), pictures=False))

    def _end(self) -> None:
        self._widget = None
        if self in _panels:
            _panels.remove(self)
        self._taker.close()


_panels: list[Panel] = []  # that are shown and go on


def freeze_panels(target: Any, kind: type[Panel] = Panel) -> None:
    """Let the panels of a cluster stand still: it is about to be stopped, or to have a new one."""
    for panel in [each for each in _panels if each._target == target and isinstance(each, kind)]:
        panel.freeze()


def _style(live: str) -> Style:
    style = style_in_use()
    return replace(style, times=live != "off", pictures=style.pictures and live != "text")

"""The still beside a widget: what a notebook keeps that is saved before the widget has ended.

It is a display of its own, next to the widget's. The widget hides it, so it is seen as soon as
there is no widget: in a saved notebook, in a page that was made of one, after the kernel was
killed. JupyterLab says in the place of such a widget that its model was not found; the still hides
that.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from IPython.display import DisplayHandle

from tfdist.jupyter.bundles import Bundle

EVERY = 2.0  # seconds between two stills, at least
# what JupyterLab shows of a widget that it does not find: a text in an element without any other
_HIDDEN = ".jp-OutputArea:has(.{name}) .jupyter-widgets:not(:has(*)){{display:none}}"


class StillBeside:
    """One still, replaced now and then.

    Args:
      widget: beside which it stands; its trait `still` is set to what it has to hide.
    """

    def __init__(self, widget: Any) -> None:
        widget.still = self._name = f"tfdist-still-{widget.model_id}"
        self._handle: DisplayHandle | None = None
        self._shown: dict[str, Any] = {}
        self._next = 0.0  # time from which it may be replaced
        self._lock = threading.Lock()

    @property
    def is_due(self) -> bool:
        """Return whether another one may be shown now."""
        return time.monotonic() >= self._next

    def show(self, bundle: Bundle) -> None:
        """Show it: the first time in the cell that runs, afterwards in the place of the last."""
        style = f"<style>{_HIDDEN.format(name=self._name)}</style>"
        html = f'<div class="{self._name}">{style}{bundle.data["text/html"]}</div>'
        data = {"text/plain": bundle.data["text/plain"], "text/html": html}
        with self._lock:
            self._next = time.monotonic() + EVERY
            if data != self._shown:
                self._shown = data
                self._put(Bundle(data))

    def end(self, bundle: Bundle) -> None:
        """Show what stays, which nothing hides."""
        with self._lock:
            self._put(bundle)

    def _put(self, bundle: Bundle) -> None:
        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(bundle.data, raw=True, metadata=bundle.metadata)
        else:
            self._handle.update(bundle.data, raw=True, metadata=bundle.metadata)

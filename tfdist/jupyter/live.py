"""Outputs that move while something goes on, and stand still afterwards.

A widget is shown in a display that has a name (`display_id`). In the end that display is updated
with pictures, tables and text, and the widget is closed with all that it is made of: a saved
notebook shows what was last seen, and nothing is left open. A widget and what it becomes are never
in one output: a trusted notebook would show the widget that is gone. What a notebook keeps that is
saved before the end stands in a second display (`beside`), which then takes what stays.

Any thread may call what is here; none of it prints, for where a thread's output lands depends on
the version of ipykernel.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle, display

from tfdist.base.extras import is_there
from tfdist.jupyter.beside import StillBeside
from tfdist.jupyter.bundles import Bundle, sentence_bundle
from tfdist.jupyter.html import image, paragraph

VIEW = "application/vnd.jupyter.widget-view+json"
LINE_EVERY = 1.0  # seconds between two versions of a line
_LINE = 100  # characters of a terminal's line
_NOTHING = Bundle({"text/plain": ""})  # where a widget was, above what stays


class Way(Enum):
    """How what moves is shown."""

    WIDGET = "a widget, and still in the end"
    LINE = "a line that is rewritten, and a text in the end"
    STILL = "what it is now, once"
    NONE = "not at all, while it is watched"


def way_of(live: str, shell: Any = None) -> Way:
    """Return how what moves is shown.

    Args:
      live: `%config TFDist.live`: "auto", "text" or "off".
      shell: IPython's; by default the one that there is.
    """
    if live == "off":
        return Way.STILL
    in_kernel = hasattr(get_ipython() if shell is None else shell, "kernel")
    return Way.WIDGET if live == "auto" and in_kernel and _has_widgets() else Way.LINE


def _has_widgets() -> bool:
    return is_there("ipywidgets") and is_there("anywidget")


class Live:
    """One output that moves until `freeze`.

    Args:
      still: returns what stands there in the end; called once, on any thread.
      way: how it is shown.
      name: of what it shows, for those who read no widgets; the same in every run.
      ended: called first of all when it ends; it must not wait for other threads.
      beside: returns what stands beside the widget, which then has a trait `still`; by default
        nothing does.
    """

    def __init__(
        self,
        still: Callable[[], Sequence[Bundle]],
        way: Way,
        name: str,
        ended: Callable[[], None] = lambda: None,
        beside: Callable[[], Sequence[Bundle]] | None = None,
    ) -> None:
        self._still, self.way, self._name, self._ended = still, way, name, ended
        self._make_beside = beside
        self._beside: StillBeside | None = None
        self._handle: DisplayHandle | None = None
        self._widget: Any = None
        self._told = 0.0  # when a line was last written
        self._is_frozen = False
        self._lock = threading.RLock()

    @property
    def is_frozen(self) -> bool:
        """Return whether it stands still for good."""
        return self._is_frozen

    def show(self, widget: Any = None) -> None:
        """Display it in the cell that runs.

        Args:
          widget: of ipywidgets or anywidget, if the way is `WIDGET`; it is closed in the end.
        """
        self._widget = widget
        if self.way is Way.STILL:
            self.freeze()
            return
        with _lock:
            if not _open:
                atexit.unregister(freeze_all)
                atexit.register(freeze_all)  # after ipykernel's own, and so called before those
            _open[id(self)] = self
        if widget is not None:
            view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
            if self._make_beside is not None:
                self._beside = StillBeside(widget)
            self._display(Bundle({"text/plain": f"<{self._name}>", VIEW: view}))
            self.keep()

    def keep(self) -> None:
        """Replace what stands beside the widget, if anything does: every two seconds at most."""
        if self._beside is None or self._make_beside is None or not self._beside.is_due:
            return
        bundle = self._joined(self._make_beside)
        with self._lock:
            if not self._is_frozen:
                self._beside.show(bundle)

    def tell(self, line: str) -> None:
        """Rewrite the line, if the way is `LINE`: once a second at most.

        In a terminal only the main thread writes: what is typed there belongs to the user.
        """
        now = time.monotonic()
        with self._lock:
            if self.way is not Way.LINE or self._is_frozen or now < self._told + LINE_EVERY:
                return
            if is_in_kernel():
                self._told = now
                self._display(sentence_bundle(line))
            elif sys.stdout.isatty() and threading.current_thread() is threading.main_thread():
                self._told = now
                print(f"\r{line[:_LINE]:{_LINE}}", end="", flush=True)

    def freeze(self) -> None:
        """Let it stand still; what it shows then is asked for now. Later calls do nothing."""
        with self._lock:
            if self._is_frozen:
                return
            self._is_frozen = True
            with _lock:
                _open.pop(id(self), None)
            self._ended()
            try:
                if self.way is not Way.NONE:
                    self._end(self._joined(self._still))
            finally:
                close_widget(self._widget)
                self._widget = None

    def _end(self, bundle: Bundle) -> None:
        if self._beside is None:
            self._display(bundle.text_only() if self.way is Way.LINE else bundle)
            return
        self._beside.end(bundle)
        self._display(_NOTHING)

    def _joined(self, make: Callable[[], Sequence[Bundle]]) -> Bundle:
        try:
            return joined(make())
        except Exception as error:  # an output that says so, and no widget that is left open
            return sentence_bundle(f"{self._name} could not be drawn: {error!r}")

    def _display(self, bundle: Bundle) -> None:
        if not is_in_kernel():
            display(bundle.data, raw=True, metadata=bundle.metadata)
        elif self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(bundle.data, raw=True, metadata=bundle.metadata)
        else:
            self._handle.update(bundle.data, raw=True, metadata=bundle.metadata)


_open: dict[int, Live] = {}  # that move now
_lock = threading.Lock()


def freeze_all() -> None:
    """Let everything stand still: the kernel ends, or the extension goes."""
    with _lock:
        found = list(_open.values())
    for each in found:
        each.freeze()


def freeze_after_interrupt(result: Any) -> None:
    """Let everything stand still if a cell was interrupted (IPython's event `post_run_cell`)."""
    if isinstance(result.error_in_exec, KeyboardInterrupt):
        freeze_all()


def close_widget(widget: Any) -> None:
    """Close a widget and all that it is made of, which ipywidgets leaves open; None is fine."""
    for part in list(_parts(widget, set())):
        part.close()


def _parts(widget: Any, seen: set[int]) -> Iterator[Any]:
    """Yield a widget and what its traits refer to."""
    if not hasattr(widget, "model_id") or id(widget) in seen:
        return
    seen.add(id(widget))
    yield widget
    for name in widget.keys:
        value = getattr(widget, name, None)
        for each in value if isinstance(value, tuple | list) else (value,):
            yield from _parts(each, seen)


def joined(bundles: Sequence[Bundle]) -> Bundle:
    """Return one output of several: a display can be updated with one only.

    HTML has them all, one below the other, pictures as data; the first picture is there as PNG
    also, for what shows no HTML.
    """
    found = list(bundles)
    text = "\n".join(each.data["text/plain"] for each in found if each.data["text/plain"])
    data: dict[str, Any] = {"text/plain": text, "text/html": "".join(map(_html, found))}
    pictured = next((each for each in found if "image/png" in each.data), None)
    if pictured is None:
        return Bundle(data)
    return Bundle(data | {"image/png": pictured.data["image/png"]}, pictured.metadata)


def _html(bundle: Bundle) -> str:
    if "text/html" in bundle.data:
        return str(bundle.data["text/html"])
    if "image/png" not in bundle.data:
        return paragraph(bundle.data["text/plain"])
    about = bundle.metadata["image/png"]
    return image(bundle.data["image/png"], about["alt"], about["width"], about["height"])


def is_in_kernel() -> bool:
    """Return whether this is a notebook's kernel, whose outputs can be updated."""
    return hasattr(get_ipython(), "kernel")

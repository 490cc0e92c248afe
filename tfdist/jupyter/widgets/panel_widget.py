"""The widget of a live panel, in the kernel. `browser/panel.js` is the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
from traitlets import Float, Unicode

from tfdist.web.browser_parts import PANEL, script, style_sheet


class PanelWidget(anywidget.AnyWidget):
    """What a panel shows now.

    Args:
      name: what it is, for those who read no widgets.
      html: that it shows.
      frozen: called when its button is pressed, on any thread, with the `seconds` that it showed,
        and from when to when it had been zoomed into, if it was.
    """

    _esm = script(PANEL, "panelView")
    _css = style_sheet("canvas", "view", "panel")
    html = Unicode().tag(sync=True)
    seconds = Float().tag(sync=True)  # since the watch began
    still = Unicode().tag(sync=True)  # see `live.Live`

    def __init__(
        self, name: str, html: str, frozen: Callable[[float, tuple[float, float] | None], None]
    ) -> None:
        super().__init__(html=html)
        self._name, self._frozen = name, frozen
        self.on_msg(self._hear)

    def update(self, html: str, seconds: float) -> None:
        """Show something else, if it is: in one message."""
        if html != self.html:
            with self.hold_sync():
                self.html, self.seconds = html, seconds

    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Take a message of the browser: the button that keeps what is shown as a picture."""
        if isinstance(content, dict) and content.get("do") == "freeze":
            seconds = content.get("seconds")
            shown = float(seconds) if isinstance(seconds, int | float) else self.seconds
            self._frozen(shown, _span(content.get("sight")))

    def __repr__(self) -> str:
        return f"<PanelWidget: {self._name}>"  # no address: outputs are compared


def _span(sight: Any) -> tuple[float, float] | None:
    """Return two seconds as the browser told them, or None if it told something else."""
    match sight:
        case [int() | float() as begin, int() | float() as end] if begin < end:
            return float(begin), float(end)
    return None

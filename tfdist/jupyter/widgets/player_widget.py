"""The widget of a step player: what it is in the kernel. `browser/player.js` is the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
from traitlets import Bytes, Float, Unicode

from tfdist.web.browser_parts import PLAYER, packed, script, style_sheet


class PlayerWidget(anywidget.AnyWidget):
    """A scene that the browser plays.

    Args:
      payload: from `plots.player.payload.payload`.
      sentence: what it shows, for those who do not see it.
      moment: at which it begins, in microseconds since the step's beginning.
      frozen: called when its button is pressed, on any thread.
    """

    _esm = script(PLAYER, "playerView")
    _css = style_sheet("canvas", "player")
    scene = Bytes().tag(sync=True)
    sentence = Unicode().tag(sync=True)
    moment = Float().tag(sync=True)
    ground = Unicode().tag(sync=True)  # "light" or "dark", as soon as the browser has told it
    still = Unicode().tag(sync=True)  # see `live.Live`

    def __init__(
        self, payload: dict[str, Any], sentence: str, moment: float, frozen: Callable[[], None]
    ) -> None:
        super().__init__(scene=packed(payload), sentence=sentence, moment=moment)
        self._frozen = frozen
        self.on_msg(self._hear)

    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Take a message of the browser: the button that keeps a moment as a picture."""
        if isinstance(content, dict) and content.get("do") == "freeze":
            moment = content.get("moment")
            if isinstance(moment, int | float):
                self.moment = float(moment)
            self._frozen()

    def __repr__(self) -> str:
        return f"<PlayerWidget: {self.sentence}>"  # no address: outputs are compared

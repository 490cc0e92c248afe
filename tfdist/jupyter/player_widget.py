"""The widget of a step player: `player_parts/*.js` run in the browser, `player.css` is its look.

All are sent with the widget, as one module: nothing is fetched from anywhere, nothing is built.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Bytes, Float, Unicode

_HERE = Path(__file__).parent / "player_parts"
PARTS = ("basics", "scene", "drawing", "picture", "strip", "player")  # each uses those before it


class PlayerWidget(anywidget.AnyWidget):
    """A scene that the browser plays.

    Args:
      payload: from `player_payload.payload`.
      sentence: what it shows, for those who do not see it.
      moment: at which it begins, in microseconds since the step's beginning.
      frozen: called when its button is pressed, on any thread.
    """

    _esm = "\n".join((_HERE / f"{part}.js").read_text(encoding="utf-8") for part in PARTS)
    _css = (_HERE / "player.css").read_text(encoding="utf-8")
    scene = Bytes().tag(sync=True)
    sentence = Unicode().tag(sync=True)
    moment = Float().tag(sync=True)
    ground = Unicode().tag(sync=True)  # "light" or "dark", as soon as the browser has told it

    def __init__(
        self, payload: dict[str, Any], sentence: str, moment: float, frozen: Callable[[], None]
    ) -> None:
        packed = zlib.compress(json.dumps(payload, separators=(",", ":")).encode())
        super().__init__(scene=packed, sentence=sentence, moment=moment)
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

"""The widget of curves to explore, in the kernel. `browser/explorer.js` is the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
from traitlets import Bytes, Dict, Int, Unicode

from tfdist.web.browser_parts import EXPLORER, packed, script, style_sheet


class ExplorerWidget(anywidget.AnyWidget):
    """Curves that the browser draws.

    Args:
      payload: from `plots.scaling.explorable.explorable_payload`.
      sentence: what it shows.
      frozen: called when its button is pressed, on any thread.
    """

    _esm = script(EXPLORER, "explorerView")
    _css = style_sheet("explorer")
    curves = Bytes().tag(sync=True)
    sentence = Unicode().tag(sync=True)
    choice = Dict(value_trait=Int(), key_trait=Unicode()).tag(sync=True)  # positions of sliders
    still = Unicode().tag(sync=True)  # see `live.Live`

    def __init__(self, payload: dict[str, Any], sentence: str, frozen: Callable[[], None]) -> None:
        super().__init__(curves=packed(payload), sentence=sentence, choice=dict(payload["chosen"]))
        self._frozen = frozen
        self.on_msg(self._hear)

    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Take a message of the browser: the button that keeps what is chosen as a picture."""
        if isinstance(content, dict) and content.get("do") == "freeze":
            self._frozen()

    def __repr__(self) -> str:
        return f"<ExplorerWidget: {self.sentence}>"  # no address: outputs are compared

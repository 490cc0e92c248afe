"""What runs in the browser: scripts and style sheets, joined to one of each; what is sent to them.

They are plain files, sent as they are with a widget or written into a report: nothing is fetched
from anywhere, nothing is built. A view has one function, `render`, of anywidget's form.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "browser"
# What belongs to a view; each script uses those before it.
PLAYER = ("basics", "widget", "scene", "drawing", "picture", "strip", "player")
EXPLORER = ("basics", "widget", "explorer")
PANEL = ("basics", "widget", "panel")
REPORT = tuple(dict.fromkeys((*PLAYER, *EXPLORER, "report")))


def script(names: Sequence[str], view: str = "") -> str:
    """Return scripts as one module.

    Args:
      names: of the files, without suffix.
      view: what the module exports, for a widget.
    """
    found = [_read(f"{name}.js") for name in names]
    return "\n".join([*found, f"export default {view};\n"] if view else found)


def style_sheet(*names: str) -> str:
    """Return the theme's style sheet and others."""
    return "\n".join(_read(f"{name}.css") for name in ("theme", *names))


def packed(payload: dict[str, Any]) -> bytes:
    """Return JSON, compressed, as `unpacked` in the browser takes it."""
    return zlib.compress(json.dumps(payload, separators=(",", ":")).encode())


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")

"""What runs in the browser: scripts and style sheets, joined to one of each; what is sent to them.

They are plain files, sent as they are with a widget or written into a report: nothing is fetched
from anywhere, nothing is built. A view has one function, `render`, of anywidget's form.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "browser"
# What belongs to a view; each script uses those before it.
PLAYER = ("theme", "bytes", "basics", "widget", "scene", "drawing", "picture", "strip", "player")
EXPLORER = ("theme", "bytes", "basics", "widget", "explorer")
THEMED = ("theme", "bytes", "themed")
_ON_CANVAS = ("theme", "bytes", "basics", "canvas_view")
_LANES = ("theme", "basics", "canvas_view", "time_view", "stream")
PANEL = (*_LANES, "widget", "panel")
DASHBOARD = (*_LANES, "dashboard")
GRAPH = (*_ON_CANVAS, "graph_drawing", "graph", "output")
TABLE = ("theme", "bytes", "basics", "table", "output")
TIMELINE = (*_ON_CANVAS, "time_view", "timeline_drawing", "timeline", "output")
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


def themed_script(dark_table: bytes) -> str:
    """Return what lets the picture before it follow the theme.

    Args:
      dark_table: the PNG's table of colours for dark; see `plots.shared.two_grounds`.
    """
    table = b64encode(dark_table).decode()
    place = "document.currentScript.previousElementSibling.querySelector('img')"
    return inline_script(THEMED, f"followTheme({place}, '{table}');")


def live_view(
    still: str, names: Sequence[str], view: str, payload: dict[str, Any], sentence: str
) -> str:
    """Return HTML of a picture whose place a view takes, where scripts may run.

    Args:
      still: the picture, as HTML.
      names: of the view's scripts.
      view: the class in them that draws it.
      payload: what it shows; compressed and in base64, so that no name in it can end an element.
      sentence: what it is, for those who do not see it.
    """
    data = b64encode(packed(payload)).decode()
    texts = (style_sheet("canvas", "view"), sentence)
    sheet, told = (json.dumps(each).replace("<", "\\u003c") for each in texts)
    draw = f"(root, data) => new {view}(root, data, {told})"
    call = f"takePlace(document.currentScript.previousElementSibling, '{data}', {draw}, {sheet});"
    return f'<div class="tfdist-place">{still}</div>{inline_script(names, call)}'


def inline_script(names: Sequence[str], call: str) -> str:
    """Return an element that runs scripts, then `call`, once: beside what it belongs to."""
    return f"<script>(() => {{\n{script(names)}\n{call}\n}})();</script>"


def packed(payload: dict[str, Any]) -> bytes:
    """Return JSON, compressed, as `unpacked` in the browser takes it."""
    return zlib.compress(json.dumps(payload, separators=(",", ":")).encode())


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")

"""The notebooks as pages: what their cells say, hold and have shown; nothing is run."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = "tutorial"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NOT_SHOWN = re.compile(r"^# NBVAL_\w+\n", re.MULTILINE)


def pages(notebooks: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield (path, Markdown or picture) of every file, that of the course first."""
    course = (notebooks / "README.md").read_text(encoding="utf-8")
    yield f"{FOLDER}/index.md", course.replace(".ipynb)", ".md)")
    for path in sorted(notebooks.glob("*.ipynb")):
        yield from _notebook(path)


def _notebook(path: Path) -> Iterator[tuple[str, str | bytes]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    pictures: dict[str, bytes] = {}
    told = [line for cell in cells for line in _cell(cell, path.stem, pictures)]
    yield f"{FOLDER}/{path.stem}.md", _with_links("\n".join(told))
    yield from ((f"{FOLDER}/{name}", data) for name, data in pictures.items())


def _with_links(text: str) -> str:
    return re.sub(r"\]\((\w+)\.ipynb", r"](\1.md", text)


def _cell(cell: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """Yield the lines of a cell; its pictures go into `pictures`."""
    source = _NOT_SHOWN.sub("", "".join(cell["source"]))
    if cell["cell_type"] == "markdown":
        yield f"{source}\n".replace("<details>", "<details markdown>")  # Markdown inside, too
    elif source.strip():
        yield f"```ipython\n{source}\n```\n"
    for output in cell.get("outputs", ()):
        yield from _output(output, stem, pictures)


def _output(output: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    data = output.get("data", {})
    if "image/png" in data:
        name = f"{stem}_{len(pictures) + 1}.png"
        pictures[name] = base64.b64decode("".join(data["image/png"]))
        yield _picture(name, output.get("metadata", {}).get("image/png", {}))
    elif "text/html" in data:
        yield f'<div class="shown">{_one_line("".join(data["text/html"]))}</div>\n'
    else:
        text = output.get("text") or data.get("text/plain") or output.get("traceback") or ()
        yield f'<pre class="printed">{html.escape(_plain(text))}</pre>\n'


def _picture(name: str, about: dict[str, Any]) -> str:
    size = "".join(f' {side}="{about[side]}"' for side in ("width", "height") if side in about)
    alt = html.escape(about.get("alt", "What the cell shows."), quote=True)
    return f'<p class="shown"><img src="{name}" alt="{alt}"{size} loading="lazy"></p>\n'


def _one_line(text: str) -> str:
    """Return HTML in which no line is empty: Markdown would take what follows for its own."""
    return re.sub(r"\n\s*\n", "\n", text)


def _plain(text: str | list[str]) -> str:
    """Return what was printed, without a terminal's colours and without empty lines."""
    lines = _COLOURS.sub("", "".join(text)).rstrip()
    return lines.replace("\n\n", "\n&nbsp;\n".replace("&nbsp;", "\u00a0"))

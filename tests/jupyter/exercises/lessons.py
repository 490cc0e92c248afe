"""What the course's notebooks say of their exercises: questions, checks, and folded answers."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
FILES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
NUMBERS = [int(name[:2]) for name in FILES if not name.startswith("00")]  # 00 is the first page

_FOLDED = re.compile(r"<details><summary>\w+</summary>\n\n(.*?)\n\n</details>", re.DOTALL)
_NAMED = re.compile(r"^\*\*(\d+[a-z])\.\*\* ", re.MULTILINE)
_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


@cache
def cells(number: int) -> list[dict[str, Any]]:
    """Return the cells of a lesson."""
    (path,) = NOTEBOOKS.glob(f"{number:02}_*.ipynb")
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in found]


def code(number: int) -> dict[str, str]:
    """Return the code of a lesson, cell by cell."""
    return {cell["id"]: cell["source"] for cell in cells(number) if cell["cell_type"] == "code"}


def prose(number: int) -> str:
    """Return the text of a lesson, without what is folded."""
    return _FOLDED.sub("", _text(number))


def questions(number: int) -> dict[str, str]:
    """Return what the text of a lesson asks, by the names of exercises."""
    parts = _NAMED.split(prose(number))[1:]
    return {name: " ".join(text.split("\n\n")[0].split()) for name, text in _pairs(parts)}


def checks(number: int) -> list[str]:
    """Return the names that a lesson's cells check, each once."""
    found = re.findall(r"^%tfdist check (\w+)$", "\n".join(code(number).values()), re.MULTILINE)
    return sorted(set(found))


def answers(number: int) -> dict[str, str]:
    """Return what is folded: what is typed after the name, or the code of what is made."""
    parts = _NAMED.split("\n\n".join(_FOLDED.findall(_text(number))))[1:]
    found = {}
    for name, text in _pairs(parts):
        typed = re.match(r"`([^`]+)`: ", text)
        found[name] = typed[1] if typed else "\n".join(_CODE.findall(text))
    return found


def _text(number: int) -> str:
    told = [cell["source"] for cell in cells(number) if cell["cell_type"] == "markdown"]
    return "\n\n".join(told)


def _pairs(parts: list[str]) -> list[tuple[str, str]]:
    return list(zip(parts[::2], parts[1::2], strict=True))

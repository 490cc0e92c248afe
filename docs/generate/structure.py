"""The structure of the code as pictures and tables, drawn from the tables that the tests check."""

from __future__ import annotations

import ast
import html
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PATH = "explanation/structure.md"
WIDTH, BAND, GAP = 880, 62, 8  # of the picture of floors
CELL, LABEL = 26, 96  # of the import table
TEXT = 'fill="currentColor" font-family="inherit"'


class Folder(NamedTuple):
    """A folder or module at the top: how much is in it, and its docstring."""

    modules: int
    lines: int
    about: str


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of the page."""
    sys.path.insert(0, str(root))
    from tests import test_layers

    package = root / "tfdist"
    found = {name: folder(package, name) for floor in test_layers.FLOORS for name in floor}
    yield PATH, "\n".join(_page(test_layers, package, found))


def folder(package: Path, name: str) -> Folder:
    """Return what is in a folder or module at the top."""
    paths = sorted((package / name).rglob("*.py")) or [package / f"{name}.py"]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return Folder(len(paths), sum(text.count("\n") for text in texts), docstring(paths[0]))


@cache
def docstring(path: Path) -> str:
    """Return a module's docstring."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _page(layers: Any, package: Path, found: dict[str, Folder]) -> Iterator[str]:
    total = sum(each.modules for each in found.values())
    yield "# The structure of the code\n"
    yield (
        f"{total} modules in {len(found)} folders, on {len(layers.FLOORS)} floors. Both pictures "
        "are drawn when this site is built, from `tests/test_layers.py` (which holds the tables "
        "and checks every import against them) and from the modules themselves.\n"
    )
    yield "## Floors\n"
    yield (
        "A folder imports from lower floors only, and from those beside it where the table below "
        "says so. The bar in a box is its share of the lines.\n"
    )
    yield floors_picture(layers.FLOORS, found) + "\n"
    yield "## Imports\n"
    yield (
        "A row imports from a column: the number is how many of its modules do. A dot is allowed "
        "and not used; an empty field is forbidden, and a test fails.\n"
    )
    yield imports_picture(layers, list(found)) + "\n"
    yield "## Folders\n"
    for name in found:
        yield from _folder(package, name, found[name])


def _folder(package: Path, name: str, found: Folder) -> Iterator[str]:
    is_folder = (package / name).is_dir()
    yield f"### tfdist/{name}{'/' if is_folder else '.py'}\n"
    yield f"{found.modules} modules, {found.lines:,} lines.\n" if is_folder else ""
    yield f"{found.about}\n"
    inner = sorted(path.parent for path in (package / name).glob("*/__init__.py"))
    if inner:
        yield "| inside | modules | what it holds |\n|---|---|---|"
    for path in inner:
        about = docstring(path / "__init__.py").partition("\n\n")[0].replace("\n", " ")
        yield f"| `{name}/{path.name}/` | {len(list(path.rglob('*.py')))} | {about} |"
    yield ""


def floors_picture(floors: list[list[str]], found: dict[str, Folder]) -> str:
    """Return the floors as SVG, the lowest at the bottom, in the colours of the page."""
    height = len(floors) * (BAND + GAP)
    largest = max(each.lines for each in found.values())
    parts = []
    for number, names in enumerate(floors):
        top = height - (number + 1) * (BAND + GAP)
        parts.append(_words(0, top + BAND / 2 + 4, str(number), 13, "0.6"))
        room = (WIDTH - 24 - GAP * (len(names) - 1)) / len(names)
        for place, name in enumerate(names):
            parts.append(_box(24 + place * (room + GAP), top, room, name, found[name], largest))
    return _svg(WIDTH, height, parts, "The folders of tfdist on their floors")


def _box(left: float, top: float, room: float, name: str, found: Folder, largest: int) -> str:
    first = html.escape(found.about.partition("\n")[0])
    bar = max((room - 24) * found.lines / largest, 2)
    count = f"{found.modules} modules" if found.modules > 1 else "a module"
    return (
        f"<g><title>{first}</title>"
        f'<rect x="{left:.1f}" y="{top}" width="{room:.1f}" height="{BAND}" rx="6" '
        'fill="var(--md-code-bg-color)" stroke="currentColor" stroke-opacity="0.3"/>'
        + _words(left + 12, top + 22, name, 14, weight=600)
        + _words(left + 12, top + 39, f"{count}, {found.lines:,} lines", 10.5, "0.7")
        + f'<rect x="{left + 12:.1f}" y="{top + 48}" width="{bar:.1f}" height="4" rx="2" '
        'fill="var(--md-primary-fg-color)"/></g>'
    )


def imports_picture(layers: Any, names: list[str]) -> str:
    """Return who imports from whom as SVG: a row imports from the columns."""
    counts = _counts(layers)
    size = LABEL + CELL * len(names)
    parts = []
    for place, name in enumerate(names):
        middle = LABEL + place * CELL + CELL / 2
        parts.append(_words(LABEL - 8, middle + 4, name, 12, anchor="end"))
        turned = f'transform="rotate(-60 {middle:.0f} {LABEL - 8})"'
        parts.append(_words(middle, LABEL - 8, name, 12, extra=turned))
    for row, importer in enumerate(names):
        for column, imported in enumerate(names):
            count = counts.get((importer, imported), 0)
            allowed = imported in layers.ALLOWED.get(importer, ())
            parts.append(_cell(row, column, count, allowed, f"{importer} imports {imported}"))
    return _svg(size, size, parts, "Which folder imports from which")


def _counts(layers: Any) -> dict[tuple[str, str], int]:
    """Return how many modules of a folder import from another one."""
    found: dict[tuple[str, str], int] = {}
    for module in layers.PATHS:
        importer = layers.folder_of(module)
        for imported in {layers.folder_of(each) for each in layers.own_imports(module)}:
            if imported != importer:
                found[importer, imported] = found.get((importer, imported), 0) + 1
    return found


def _cell(row: int, column: int, count: int, allowed: bool, told: str) -> str:
    left, top = LABEL + column * CELL, LABEL + row * CELL
    middle = f'cx="{left + CELL / 2}" cy="{top + CELL / 2}"'
    if row == column:
        return _square(left, top, 'fill="currentColor" fill-opacity="0.12"')
    if count:
        strength = min(0.25 + count / 120, 0.9)
        square = _square(
            left, top, f'fill="#4c7bd9" fill-opacity="{strength:.2f}"', f"{told}: {count}"
        )
        return square + _words(left + CELL / 2, top + 17, str(count), 10, anchor="middle")
    frame = _square(left, top, 'fill="none"')
    return frame + f'<circle {middle} r="2" fill="currentColor" fill-opacity="0.4"/>' * allowed


def _square(left: float, top: float, fill: str, told: str = "") -> str:
    title = f"<title>{told}</title>" if told else ""
    return (
        f'<rect x="{left}" y="{top}" width="{CELL}" height="{CELL}" {fill} '
        f'stroke="currentColor" stroke-opacity="0.12">{title}</rect>'
    )


def _words(
    left: float, base: float, text: str, size: float, opacity: str = "1",
    weight: int = 400, anchor: str = "start", extra: str = "",
) -> str:  # fmt: skip
    return (
        f'<text x="{left:.1f}" y="{base:.1f}" font-size="{size}" fill-opacity="{opacity}" '
        f'font-weight="{weight}" text-anchor="{anchor}" {TEXT} {extra}>{html.escape(text)}</text>'
    )


def _svg(width: float, height: float, parts: list[str], told: str) -> str:
    return (
        f'<div class="drawn"><svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{told}">{"".join(parts)}</svg></div>'
    )

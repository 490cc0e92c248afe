"""The promises of the bench of faults, from its own rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

PATH = "reference/promises.md"


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of the page."""
    sys.path.insert(0, str(root))
    yield PATH, "\n".join(_page())


def _page() -> Iterator[str]:
    from tests.faults.table import LEFT_OUT, ROWS

    yield "# What is promised when something fails\n"
    yield (
        f"The {len(ROWS)} rows of `python tests/faults/bench.py`, which does each and compares. "
        "Seconds hold on an idle machine; *x* is a multiple of the same work without tfdist.\n"
    )
    yield "| row | what is done | the error | within |\n|---|---|---|---|"
    for row in ROWS:
        within = f"{row.bound:g} x" if row.reference else f"{row.bound:g} s"
        yield f"| {row.number} | {_cell(row.sentence)} | {row.error or 'none'} | {within} |"
    yield "\n## Without a row\n"
    yield "| promise | where it is tested, or why it is not |\n|---|---|"
    yield from (f"| {number} | {_cell(why)} |" for number, why in LEFT_OUT.items())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

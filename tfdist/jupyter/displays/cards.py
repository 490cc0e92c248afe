"""Cards: a thing's name, and facts about it, as a table of two columns with a plain twin."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tfdist.base import shapes
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.html import table_html
from tfdist.plots.shared.tables import Table

T = TypeVar("T")
Show = Callable[[Any, Style], Bundle]
Facts = Iterable[tuple[str, str]]

MOMENT = 0.5  # seconds that a display may wait for somebody else
MOST_NAMES = 6  # in one line
MOST_LETTERS = 120


def card(kind: str, name: str, facts: Facts, *tables: Table, note: str = "") -> Bundle:
    """Return a card.

    Args:
      kind: of thing, above the names of the facts.
      name: of the thing, above the facts.
      facts: (name, fact); those that say nothing are left out.
      tables: below the card.
      note: a sentence below the facts.
    """
    rows = tuple((key, line) for key, fact in facts if fact for line in _lines(fact))
    shown = [table for table in tables if table.rows]
    if rows or note or not shown:
        return tables_bundle([Table((kind, name), rows, note=note), *shown])
    return tables_bundle(shown, f"{kind}, {name}")


def tables_bundle(tables: Sequence[Table], sentence: str = "") -> Bundle:
    """Return several tables, one below the other, with a sentence above."""
    text = "\n\n".join(filter(None, [sentence, *map(str, tables)]))
    html = "".join(table_html(table, sentence * (not i)) for i, table in enumerate(tables))
    return Bundle({"text/plain": text, "text/html": html})


def _lines(fact: str) -> list[str]:
    """Return a fact in lines that are not too long."""
    return [cut(line) for line in fact.splitlines()] or [""]


def cut(text: str, most: int = MOST_LETTERS) -> str:
    """Return `text`, or its beginning and "..." if it is too long for a line."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def rows_table(
    header: tuple[str, ...],
    rows: Iterable[Sequence[str]],
    style: Style,
    numeric: Iterable[int] = (),
) -> Table:
    """Return a table of at most as many rows as `style` says; a note tells of the others."""
    found = [tuple(map(cut, row)) for row in rows]
    more = len(found) - style.most_rows
    note = f"... and {counted(more, 'more row')}" if more > 0 else ""
    return Table(header, tuple(found[: style.most_rows]), frozenset(numeric), note)


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Return names with commas between them, the first ones if there are many."""
    found = list(names)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def counted(count: int, noun: str) -> str:
    """Return "1 node" or "2 nodes"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def shape_text(shape: Any) -> str:
    """Return a TensorShape or plain shape in brackets; "unknown" if nothing is known of it."""
    plain = shape.as_tuple() if hasattr(shape, "as_tuple") else shape
    return "unknown" if plain is None else shapes.show(tuple(plain))


def bytes_text(count: int | None) -> str:
    """Return a number of bytes, for people."""
    if count is None:
        return "unknown"
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "bytes" else f"{size:,.1f} {units[0]}"


def within_a_moment(ask: Callable[[], T], otherwise: T) -> T:
    """Return what `ask` returns; `otherwise` if that fails, or takes too long."""
    found: list[T] = []

    def call() -> None:
        try:
            found.append(ask())
        except Exception:
            pass  # `otherwise` is shown

    thread = threading.Thread(target=call, name="tfdist-display", daemon=True)
    thread.start()
    thread.join(MOMENT)
    return found[0] if found else otherwise

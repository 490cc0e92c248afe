"""Long tables: closed at first, few rows when opened, sorted and searched where scripts run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.html import details, paragraph, table_html
from tfdist.plots.shared.tables import Table
from tfdist.web.browser_parts import TABLE, live_view

FEW = 15  # rows that are seen at once
MOST_LISTED = 20_000  # rows that can be searched


def listed_bundle(
    table: Table,
    what: str,
    style: Style,
    colours: Mapping[str, str] | None = None,
    sentence: str = "",
    whole: bool = False,
) -> Bundle:
    """Return a table of any length: of a long one the first rows, when it is opened.

    Args:
      table: the first rows are those that tell most.
      what: the rows are, such as "nodes and transfers, the longest first".
      style: how much is shown; `most_rows` of it are in a page without scripts.
      colours: "#RRGGBB" of the squares beside names in the first column.
      sentence: above the table.
      whole: whether the text has all of `most_rows`, too.
    """
    count = len(table.rows)
    first = _cut(table, style.most_rows if whole else min(FEW, style.most_rows))
    if count <= FEW:
        html = table_html(table, "", colours)
    else:
        html = details(f"{count:,} {what}", _long(table, what, style, colours or {}))
    text = "\n".join(filter(None, [sentence, str(first)]))
    return Bundle({"text/plain": text, "text/html": paragraph(sentence) + html})


def _long(table: Table, what: str, style: Style, colours: Mapping[str, str]) -> str:
    shown = _cut(table, style.most_rows)
    first, behind = replace(shown, rows=shown.rows[:FEW]), replace(shown, rows=shown.rows[FEW:])
    if behind.rows:
        more = details(f"{len(behind.rows):,} more", table_html(behind, "", colours))
        still = table_html(replace(first, note=""), "", colours) + more
    else:
        still = table_html(first, "", colours)
    if not style.scripts:
        return still
    payload = {
        "header": table.header,
        "numeric": sorted(table.numeric),
        "rows": table.rows[:MOST_LISTED],
        "colours": colours,
        "few": FEW,
        "note": table.note,
    }
    return live_view(still, TABLE, "ListedTable", payload, what)


def _cut(table: Table, most: int) -> Table:
    count = len(table.rows) - most
    if count <= 0:
        return table
    note = "; ".join(filter(None, [f"... and {count:,} more rows", table.note]))
    return replace(table, rows=table.rows[:most], note=note)

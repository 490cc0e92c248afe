"""HTML that survives: tables with `scope`, colours written out in `style`, nothing else.

An untrusted notebook and GitHub strip style sheets, variables, SVG and scripts. Colours of text and
ground are left to the reader's theme; a device's hue stands in a square beside its name. What opens
is a `details` element, with pictures as data: it needs no script either.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape

from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import Table

_CELL = "text-align:left;padding:2px 8px 2px 0"
_LONG = 24  # characters; a longer cell may be broken anywhere
_SENTENCE = 60  # characters; a longer cell has room for some words in a narrow window, too
_MANY = 8  # columns; of more, headers may take several lines
_NUMBER = "text-align:right;padding:2px 8px 2px 0;white-space:nowrap"
_NAME = 44  # characters; a longer name is shortened, and whole where one points at it
NODE = "node"  # header of a column of names


def table_html(table: Table, sentence: str = "", colours: Mapping[str, str] | None = None) -> str:
    """Return a table with an optional sentence above.

    Args:
      table: its first column names groups; a name that repeats is written once.
      sentence: above the table.
      colours: "#RRGGBB" of the squares beside names in the first column.
    """
    header = "".join(
        f'<th scope="col" style="{_header_style(table, i)}">{escape(name)}</th>'
        for i, name in enumerate(table.header)
    )
    lines = [
        f"<tr>{_first_cell(table.rows, i, colours or {})}{_other_cells(table, row)}</tr>"
        for i, row in enumerate(table.rows)
    ]
    body = f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return paragraph(sentence) + body + paragraph(table.note)


def paragraph(text: str) -> str:
    """Return `text` as a paragraph, or nothing for none."""
    return f"<p>{escape(text)}</p>" if text else ""


def prose(text: str) -> str:
    """Return `text` as a paragraph in which what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", paragraph(text))


def details(summary: str, inside: str) -> str:
    """Return something that the reader can open: `summary`, and HTML that is hidden at first."""
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def image(png: bytes, alternative: str, width: int, height: int) -> str:
    """Return a picture that needs no file beside the notebook; sizes in CSS pixels."""
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    size = f'width="{width}" height="{height}"'
    return f'<p><img alt="{escape(alternative)}" {size} src="{source}"></p>'


def _told(table: Table, column: int, cell: str) -> tuple[str, str]:
    """Return attributes of a cell, and its text: names of nodes may be shortened."""
    style = _style(table, column) + (";overflow-wrap:anywhere" if len(cell) > _LONG else "")
    style += ";min-width:14em" if len(cell) > _SENTENCE else ""
    short = shorten(cell, _NAME) if table.header[column] == NODE else cell
    whole = f' title="{escape(cell)}"' if short != cell else ""
    return f'style="{style}"{whole}', escape(short)


def _style(table: Table, column: int) -> str:
    return _NUMBER if column in table.numeric else _CELL


def _header_style(table: Table, column: int) -> str:
    style = _style(table, column)
    return style.replace(";white-space:nowrap", "") if len(table.header) > _MANY else style


def _first_cell(rows: Sequence[tuple[str, ...]], i: int, colours: Mapping[str, str]) -> str:
    name = rows[i][0]
    if i and rows[i - 1][0] == name:
        return ""  # inside a group
    count = next((k for k, row in enumerate(rows[i:]) if row[0] != name), len(rows) - i)
    square = f'<span style="color:{colours[name]}">&#9632;</span> ' if name in colours else ""
    scope = f'scope="rowgroup" rowspan="{count}"' if count > 1 else 'scope="row"'
    style = f"{_CELL};vertical-align:top;font-weight:normal"
    return f'<th {scope} style="{style}">{square}{escape(name)}</th>'


def _other_cells(table: Table, row: Sequence[str]) -> str:
    told = [_told(table, i, cell) for i, cell in enumerate(row) if i]  # the first is a header
    return "".join(f"<td {attributes}>{text}</td>" for attributes, text in told)

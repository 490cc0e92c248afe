"""The frame of a report: one HTML page that may load nothing and runs only the script it came with.

A policy in the page's head has the browser see to that, whatever stands in what was traced.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from tfdist.jupyter.html import paragraph
from tfdist.web.browser_parts import REPORT, packed, script, style_sheet

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"


def page(title: str, body: str, plays: bool) -> str:
    """Return a page.

    Args:
      title: of it.
      body: HTML.
      plays: whether there are views in it, which need a script.
    """
    code = script(REPORT) if plays else ""
    sheet = style_sheet("report", *(("canvas", "player", "explorer") if plays else ()))
    ending = f'<script type="module">{code}</script>' if plays else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f'</title><meta http-equiv="Content-Security-Policy" content="{_policy(code)}">'
        f'<meta name="viewport" content="width=device-width"><style>{sheet}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>{body}{ending}</body></html>\n"
    )


def view(name: str, payload: dict[str, Any], sentence: str, still: str) -> str:
    """Return the place of a view.

    Args:
      name: "player" or "explorer".
      payload: what it shows; compressed and in base64, so that no name in it can end an element.
      sentence: what it is, for those who do not see it.
      still: what stands there where no script runs.
    """
    data = b64encode(packed(payload)).decode()
    told = escape(sentence)
    inside = paragraph(still)
    return f'<div data-view="{name}" data-sentence="{told}" data-packed="{data}">{inside}</div>'


def _policy(code: str) -> str:
    if not code:
        return _POLICY
    return f"{_POLICY}; script-src 'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"

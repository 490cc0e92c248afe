"""How wide words are: the boxes of a graph's picture are as wide as what is written in them."""

from __future__ import annotations

from tfdist.plots.graph.data import TIMES
from tfdist.plots.graph.scopes_data import Part
from tfdist.plots.shared.palette import text_width
from tfdist.plots.shared.short_names import shorten

TITLE, ABOUT, HEADING, SMALL = 8.0, 7.0, 8.5, 6.5  # points
MOST_LETTERS = 24
STRIP = 0.1  # inches: at the left of a box, in its colours
MARK = "✚"  # before the names of what was added


def title_text(part: Part) -> str:
    """Return what is written first in a box."""
    if part.times > 1:
        first, _, last = part.title.partition(" … ")
        return f"{shorten(first, 14)} … {shorten(last, 10)} {TIMES}{part.times:,}"
    return shorten(part.title, MOST_LETTERS)


def box_width(part: Part, below: str) -> float:
    """Return how wide a box is, in inches; `below` is what is written second."""
    title = text_width(title_text(part), TITLE, "bold")
    return max(0.62, title, text_width(below, ABOUT)) + STRIP + 0.16


def heading_width(part: Part) -> float:
    """Return how wide the heading of a frame is, in inches."""
    return text_width(f"{part.title}  {len(part.members):,} nodes", HEADING, "bold") + 0.3

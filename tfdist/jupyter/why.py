"""What `%why` shows: who waits for whom, as a table and a picture."""

from __future__ import annotations

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle
from tfdist.jupyter.html import paragraph, table_html
from tfdist.plots.live.why import Why


def why_bundles(found: Why, style: Style) -> list[Bundle]:
    """Return the waits as text and table, and a picture if somebody waits.

    Args:
      found: what is in flight.
      style: how much is shown.
    """
    shown = [why_bundle(found, style)]
    told = found.explanation
    if style.pictures and told.arrows:
        sentence = " ".join([told.sentence(), *told.deadlocks])
        shown.append(picture_bundle(lambda: found.figure(style.times), sentence, style))
    return shown


def why_bundle(found: Why, style: Style) -> Bundle:
    """Return the waits as text and table."""
    told = found.explanation
    above = "".join(map(paragraph, [told.sentence(), *told.deadlocks]))
    table = table_html(found.table(style.times)) if told.names else ""
    below = "".join(map(paragraph, told.notes()))
    return Bundle({"text/plain": found.text(style.times), "text/html": above + table + below})

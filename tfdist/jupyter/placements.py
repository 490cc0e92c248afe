"""What is shown of a placement: a drawing, what is in its closed boxes, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from tfdist.jupyter.bundles import (
    Bundle,
    Style,
    picture_bundle,
    picture_html,
    sentence_bundle,
    short_colours,
)
from tfdist.jupyter.html import details, paragraph
from tfdist.jupyter.listed import MOST_LISTED, listed_bundle
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.shared.blocks import (
    Placed,
    block_lines,
    block_title,
    closed_blocks,
    from_inside,
    members_of,
)
from tfdist.plots.shared.placed_nodes import by_device
from tfdist.plots.shared.tables import placement_table
from tfdist.plots.text import blocks_text, placement_sentence

MOST_INSIDES = 12  # loops and conds of a graph whose insides are drawn; of more, words tell


def placement_bundles(
    nodes: Sequence[Placed],
    style: Style,
    opened: Sequence[str] = (),
    rounds: Mapping[str, str] | None = None,
) -> list[Bundle]:
    """Return where nodes are placed: a drawing, what is in its closed boxes, and the reasons.

    Args:
      nodes: that are placed.
      style: how much is shown.
      opened: names of loops and conds to draw open; see `plots.placement.figure.placement_figure`.
      rounds: what to say of loops.
    """
    sentence = placement_sentence(nodes)
    if not nodes:
        return [sentence_bundle(sentence)]
    table = placement_table(nodes, MOST_LISTED)
    colours = short_colours(list(by_device(nodes)))
    shown = [listed_bundle(table, "nodes, and why they are where", style, colours, sentence)]
    text = blocks_text(nodes, opened, rounds)
    if text:
        is_short = len(members_of(nodes)) <= MOST_INSIDES
        html = _insides_html(
            nodes, replace(style, pictures=style.pictures and is_short), opened, rounds
        )
        shown.insert(0, Bundle({"text/plain": text, "text/html": html}))
    if style.pictures:
        draw = partial(placement_figure, nodes, style.most_boxes, opened, rounds)
        shown.insert(0, picture_bundle(draw, sentence, style))
    return shown


def _insides_html(
    nodes: Sequence[Placed], style: Style, opened: Sequence[str], rounds: Mapping[str, str] | None
) -> str:
    """Return an element for each closed loop and cond, which opens and shows what is in it."""
    found = []
    for path, members in closed_blocks(nodes, opened).items():
        inner = from_inside(path, members)
        lines = "; ".join(block_lines(path, members))
        inside = paragraph(lines)
        if style.pictures:
            draw = partial(placement_figure, inner, style.most_boxes, [path[-1].name], rounds)
            inside = picture_html(draw, lines, style)
        inside += _insides_html(inner, style, [path[-1].name], rounds)
        found.append(details(block_title(path[-1], members, rounds), inside))
    return "".join(found)

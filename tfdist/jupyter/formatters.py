"""Rich displays of classes of the floors below, which know nothing of notebooks themselves.

They are registered by the class's module and name: nothing is imported before it is displayed.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from functools import partial
from typing import Any

from tfdist.jupyter.bundles import Bundle, Style, css_size, picture_bundle, sentence_bundle
from tfdist.jupyter.displays import cluster, data, graph, proto, sessions, state, training
from tfdist.jupyter.displays.cards import Show
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.repainted import Repainted
from tfdist.plots.shared.themes import AUTO

FIGURE = ("matplotlib.figure", "Figure")
MimeBundle = tuple[dict[str, Any], dict[str, Any]]

DISPLAYS: dict[tuple[str, str], Show] = {
    **cluster.DISPLAYS,
    **graph.DISPLAYS,
    **state.DISPLAYS,
    **data.DISPLAYS,
    **sessions.DISPLAYS,
    **training.DISPLAYS,
    **proto.DISPLAYS,
}


def register(shell: Any, style: Callable[[], Style]) -> None:
    """Register the displays; `style` is asked at each."""
    formatter, plain = _formatters(shell)
    for (module, name), show in DISPLAYS.items():
        formatter.for_type_by_name(module, name, _formatter(show, style))
        if (module, name) in sessions.SEQUENCES:
            plain.for_type_by_name(module, name, _printer(show, style))
    # matplotlib's own comes with pyplot only, which no picture of ours needs
    shell.display_formatter.formatters["image/png"].for_type_by_name(*FIGURE, _figure)
    formatter.for_type_by_name(*FIGURE, partial(_chart, style))


def unregister(shell: Any) -> None:
    """Undo `register`."""
    for formatter in _formatters(shell):
        for module, name in (*DISPLAYS, FIGURE):
            formatter.pop(f"{module}.{name}", None)
    shell.display_formatter.formatters["image/png"].pop(".".join(FIGURE), None)


def _figure(figure: Any) -> tuple[bytes, dict[str, int]]:
    return png(figure), dict(
        zip(("width", "height"), css_size(figure.get_size_inches()), strict=True)
    )


def _chart(
    style: Callable[[], Style], figure: Any, include: Any = None, exclude: Any = None
) -> MimeBundle:
    """Return a figure of the user's, which follows the theme where pictures do."""
    now = style()
    if not now.scripts or now.theme != AUTO:
        return {}, {}
    told = [text for axes in figure.axes for text in (axes.get_title(), axes.get_ylabel()) if text]
    painted = Repainted(figure)
    try:
        found = picture_bundle(painted.draw, f"Chart: {', '.join(dict.fromkeys(told))}", now)
    finally:
        painted.restore()
    return {**found.data, "text/plain": repr(figure)}, found.metadata


def _formatters(shell: Any) -> tuple[Any, Any]:
    display = shell.display_formatter
    return display.mimebundle_formatter, display.formatters["text/plain"]


def _printer(show: Show, style: Callable[[], Style]) -> Callable[..., None]:
    """Return a pretty printer; inside of something else a value is shown as it always was."""

    def call(value: Any, printer: Any, cycle: bool) -> None:
        is_inside = len(printer.stack) > 1
        text = repr(value) if is_inside else shown(show, value, style()).data["text/plain"]
        printer.text(text)

    return call


def _formatter(show: Show, style: Callable[[], Style]) -> Callable[..., MimeBundle]:
    def call(value: Any, include: Any = None, exclude: Any = None) -> MimeBundle:
        bundle = shown(show, value, style())
        return bundle.data, bundle.metadata

    return call


def shown(show: Show, value: Any, style: Style) -> Bundle:
    """Return what `show` shows of a value; of a broken one, what it is and how it is broken."""
    try:
        return show(value, style)
    except Exception as error:
        kind = type(value).__name__
        return sentence_bundle(
            f"{kind}, of which no more can be shown ({type(error).__name__}: "
            f"{reprlib.repr(str(error))})"
        )

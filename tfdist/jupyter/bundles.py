"""What is displayed, as MIME bundles: every one has a plain text that says the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.jupyter.html import image, paragraph, prose, table_html
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.tables import Table
from tfdist.plots.shared.themes import AUTO, drawn
from tfdist.plots.shared.two_grounds import two_grounds
from tfdist.tracing.device_names import short_device
from tfdist.web.browser_parts import themed_script

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure

CSS_DOTS_PER_INCH = 96


@dataclass(frozen=True)
class Bundle:
    """One output: what it is in each MIME type, and what is known about that."""

    data: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)

    def text_only(self) -> Bundle:
        """Return the plain text alone."""
        return Bundle({"text/plain": self.data["text/plain"]})


@dataclass(frozen=True)
class Style:
    """How much is shown.

    Attributes:
      times: whether durations are shown; without them outputs are the same in every run.
      pictures: whether pictures are drawn.
      most_rows: of a table.
      most_boxes: of a placement picture.
      theme: of pictures; see `plots.shared.themes`.
      scripts: whether outputs have scripts: they follow the theme, tables sort, pictures zoom.
    """

    times: bool = True
    pictures: bool = True
    most_rows: int = 200
    most_boxes: int = 60
    theme: str = "light"
    scripts: bool = False


def sentence_bundle(sentence: str) -> Bundle:
    """Return one sentence."""
    return Bundle({"text/plain": sentence, "text/html": paragraph(sentence)})


def lines_bundle(text: str) -> Bundle:
    """Return lines, each of them a paragraph; what stands between backticks is code."""
    html = "".join(map(prose, text.splitlines()))
    return Bundle({"text/plain": text, "text/html": html})


def table_bundle(
    table: Table, sentence: str = "", colours: Mapping[str, str] | None = None
) -> Bundle:
    """Return a table with a sentence above; see `html.table_html`."""
    text = "\n".join(filter(None, [sentence, str(table)]))
    return Bundle({"text/plain": text, "text/html": table_html(table, sentence, colours)})


def picture_bundle(
    draw: Callable[[], Figure], sentence: str, style: Style, text: str = ""
) -> Bundle:
    """Return a picture as PNG; its alternative text is `sentence`, its twin both texts.

    Where scripts may run it is HTML, too, for JupyterLab gives a PNG no alternative text; and it
    follows the notebook's theme if that is wanted.
    """
    twin = {"text/plain": "\n".join(filter(None, [sentence, text]))}
    follows = style.scripts and style.theme == AUTO
    if follows:
        found = two_grounds(draw)
        light, (width, height) = found.light, css_size(found.size)
    else:
        with drawn(style.theme):
            figure = draw()
            light, (width, height) = png(figure), css_size(tuple(figure.get_size_inches()))
    about = {"image/png": {"alt": sentence, "width": width, "height": height}}
    if not style.scripts:
        return Bundle({"image/png": light, **twin}, about)
    html = image(light, sentence, width, height)
    if follows:
        html += themed_script(found.dark_table)
    return Bundle({"image/png": light, "text/html": html, **twin}, about)


def still_style(style: Style) -> Style:
    """Return how a still is drawn whose place a view takes: that one follows the theme."""
    return replace(style, theme="light") if style.theme == AUTO else style


def picture_html(draw: Callable[[], Figure], sentence: str, style: Style) -> str:
    """Return a picture as HTML, to be put inside of something else."""
    found = picture_bundle(draw, sentence, style)
    about = found.metadata["image/png"]
    inside = found.data.get("text/html")
    return inside or image(found.data["image/png"], about["alt"], about["width"], about["height"])


def css_size(inches: Sequence[float]) -> tuple[int, int]:
    """Return the width and height at which a notebook shows a picture, in CSS pixels."""
    width, height = inches
    return round(width * CSS_DOTS_PER_INCH), round(height * CSS_DOTS_PER_INCH)


def spec_bundle(spec: ClusterSpec) -> Bundle:
    """Return a cluster's tasks and addresses; the text is the dict one would type."""
    cells = tuple((f"/job:{job}/task:{index}", where) for job, index, where in spec.tasks())
    html = table_html(Table(("task", "address"), cells))
    return Bundle({"text/plain": repr(spec), "text/html": html})


def short_colours(names: Sequence[str]) -> dict[str, str]:
    """Return the hue of each device by its short name, the same as in the pictures."""
    return {short_device(name): colour for name, colour in device_colours(names).items()}

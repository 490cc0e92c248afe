"""Colours, hatches and panels: device is hue, kind is hatch, and neither is the only carrier.

Hues are Okabe and Ito's, which people with any colour vision tell apart.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdist.base.extras import require
from tfdist.plots.shared.themes import faint, ink, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Figure  # others take it from here

OKABE_ITO = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#CC79A7",  # purple
    "#56B4E9",  # sky blue
    "#D55E00",  # vermilion
    "#F0E442",  # yellow
    "#999999",  # grey
)
INKS = ("#FFFFFF", "#222222")  # on hues
HATCHES = {"compute": "", "queue": "...", "transfer": "////"}
WIDTH = 9.0  # inches: about a notebook's width
DOTS_PER_INCH = 144


def tint(colour: str, share: float = 0.35) -> str:
    """Return "#RRGGBB": `share` of `colour` on the panel."""
    return mixed(colour, panel(), share)


def mixed(colour: str, ground: str, share: float) -> str:
    """Return "#RRGGBB": `share` of `colour` on `ground`."""
    parts = (
        round(below + share * (part - below))
        for part, below in zip(_parts(colour), _parts(ground), strict=True)
    )
    return "#" + "".join(f"{part:02X}" for part in parts)


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on "#RRGGBB" `colour`."""
    red, green, blue = (part / 255 for part in _parts(colour))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return INKS[0] if luminance < 0.18 else INKS[1]


def _parts(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def new_figure(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """Return a figure with one bare panel; sizes in inches. pyplot does not know of it.

    Raises:
      MissingExtra: matplotlib is not installed.
    """
    figure, (axes,) = new_panels(height, 1, width)
    axes.spines["left"].set_visible(False)
    return figure, axes


def new_panels(height: float, count: int, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, each with axes on the left and below.

    Raises:
      MissingExtra: matplotlib is not installed.
    """
    require("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor=panel(), layout="constrained")
    panels = [figure.add_subplot(1, count, i + 1, facecolor=panel()) for i in range(count)]
    for axes in panels:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(faint())
        axes.tick_params(colors=ink(), labelsize=8)
    return figure, panels


@lru_cache(maxsize=4096)
def text_width(text: str, points: float, weight: str = "normal") -> float:
    """Return the width of a line of text, in inches.

    Raises:
      MissingExtra: matplotlib is not installed.
    """
    require("matplotlib")
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(weight=weight)))
    font.set_size(points, 720)  # ten times as fine: small letters are widened to whole pixels
    font.set_text(text)
    width: float = font.get_width_height()[0] / 64 / 720  # FreeType counts in 64ths
    return width


def png(figure: Figure) -> bytes:
    """Return `figure` as PNG, opaque, at twice a notebook's resolution or nearly.

    It has 256 colours: those of areas are exact, those between a letter and its ground nearly. So
    it takes less than half of the room, in a notebook that keeps many.
    """
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH, pil_kwargs={"compress_level": 0})
    picture = Image.open(drawn).convert("RGB")
    picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(small, "PNG")
    return small.getvalue()


def svg(figure: Figure) -> bytes:
    """Return `figure` as SVG, its text as text; the same picture is the same bytes."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "tfdist", "svg.fonttype": "none"}), _without_halos(figure):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


@contextmanager
def _without_halos(figure: Figure) -> Iterator[None]:
    """Have texts drawn on the panel inside the context: with a halo they would become outlines."""
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if text.get_path_effects()]
    halos = [text.get_path_effects() for text in texts]
    for text in texts:
        text.set_path_effects([])
        text.set_bbox({"facecolor": panel(), "edgecolor": "none", "pad": 0.4, "alpha": 0.8})
    try:
        yield
    finally:
        for text, halo in zip(texts, halos, strict=True):
            text.set_bbox(None)
            text.set_path_effects(halo)

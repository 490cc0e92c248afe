"""Colours, hatches and panels: device is hue, kind is hatch, and neither is the only carrier.

Hues are Okabe and Ito's, which people with any colour vision tell apart. Panels are opaque and
light, so that pictures can be read in a dark notebook too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
PANEL = "#FFFFFF"
SHADE = "#F4F4F4"
INK = "#222222"
FAINT = "#767676"  # 4.5 : 1 on the panel
HATCHES = {"compute": "", "queue": "...", "transfer": "////"}
WIDTH = 9.0  # inches: about a notebook's width
DOTS_PER_INCH = 144


def device_colours(devices: Sequence[str]) -> dict[str, str]:
    """Return a hue for each device; they repeat after eight."""
    return {device: OKABE_ITO[i % len(OKABE_ITO)] for i, device in enumerate(devices)}


def tint(colour: str, share: float = 0.35) -> str:
    """Return "#RRGGBB": `share` of `colour` on white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02X}" for part in parts)


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on "#RRGGBB" `colour`."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return "#FFFFFF" if luminance < 0.18 else INK


def new_figure(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """Return a figure with one bare panel; sizes in inches. pyplot does not know of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor=PANEL, layout="constrained")
    axes = figure.add_subplot(facecolor=PANEL)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    return figure, axes


def png(figure: Figure) -> bytes:
    """Return `figure` as PNG, opaque, at twice a notebook's resolution or nearly."""
    buffer = io.BytesIO()
    # no date and no version: the same picture is the same bytes
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()

"""A figure of the user's own in another theme: what is black, white or grey in it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tfdist.plots.shared.themes import faint, ink, panel

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

GREY = 0.02  # how far the channels of a neutral colour may be apart
DARK, BRIGHT = 0.3, 0.93  # neutral colours up to here are text, from here on ground


class Repainted:
    """Draws a figure in the theme in which pictures are drawn now.

    Hues stay. So do colours of many things at once, such as the points of a scatter plot.

    Args:
      figure: matplotlib's.
    """

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._undo: list[Callable[[], None]] = []

    def draw(self) -> Figure:
        """Return the figure, in the theme of now."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch
        from matplotlib.text import Text

        self.restore()
        for artist in dict.fromkeys(self._figure.findobj()):
            if isinstance(artist, Text | Line2D):
                self._paint(artist, "color")
            if isinstance(artist, Line2D):
                self._paint(artist, "markeredgecolor")  # of the ticks
            if isinstance(artist, Patch):
                self._paint(artist, "facecolor")
                self._paint(artist, "edgecolor")
        return self._figure

    def restore(self) -> None:
        """Give everything its own colour back."""
        while self._undo:
            self._undo.pop()()

    def _paint(self, artist: Artist, name: str) -> None:
        """Give an artist another colour of that name, if it is neutral."""
        from matplotlib.colors import to_rgba

        put, own = getattr(artist, f"set_{name}"), getattr(artist, f"get_{name}")()
        red, green, blue, alpha = to_rgba(own)
        if not alpha or max(red, green, blue) - min(red, green, blue) > GREY:
            return
        other = ink() if red <= DARK else panel() if red >= BRIGHT else faint()
        put(to_rgba(other, alpha))
        self._undo.append(lambda: put(own))

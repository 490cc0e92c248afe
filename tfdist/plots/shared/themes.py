"""Light and dark: the neutral colours of pictures. Hues are the same in both (`palette.py`).

Panels are opaque, so that a picture can be read also where the notebook has the other theme.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Neutral colours, "#RRGGBB".

    Attributes:
      ink: of text and of what stands out.
      faint: of what does not; at least 4.5 : 1 on the panel.
      shade: ground of every other band.
      panel: the ground.
    """

    ink: str
    faint: str
    shade: str
    panel: str


THEMES = {
    "light": Theme(ink="#222222", faint="#767676", shade="#F4F4F4", panel="#FFFFFF"),
    "dark": Theme(ink="#E8E8E8", faint="#9A9A9A", shade="#262626", panel="#1B1B1B"),
}
AUTO = "auto"  # light, or dark if the reader's notebook is dark
THEME_CHOICES = (AUTO, *THEMES)
_current: ContextVar[Theme] = ContextVar("theme", default=THEMES["light"])


def ink() -> str:
    """Return the colour of text in the theme in which pictures are drawn now."""
    return _current.get().ink


def faint() -> str:
    """Return the colour of what does not stand out."""
    return _current.get().faint


def shade() -> str:
    """Return the ground of every other band."""
    return _current.get().shade


def panel() -> str:
    """Return the ground."""
    return _current.get().panel


@contextmanager
def drawn(name: str) -> Iterator[None]:
    """Draw pictures in the theme called `name`, inside the context; "auto" is light.

    Raises:
      ValueError: there is no such theme.
    """
    if name not in THEME_CHOICES:
        raise ValueError(f"theme {name!r}: there are {', '.join(THEME_CHOICES)}")
    token = _current.set(THEMES["light" if name == AUTO else name])
    try:
        yield
    finally:
        _current.reset(token)

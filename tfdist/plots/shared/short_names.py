"""Names of nodes, shortened to fit beside what they name."""

from __future__ import annotations

MOST_CHARACTERS = 30  # of a name beside its bar


def shorten(name: str, most: int = MOST_CHARACTERS) -> str:
    """Return `name`, without its beginning if it is longer than `most` characters.

    It is cut between two scopes if that does not cost too much of it.
    """
    if len(name) <= most:
        return name
    end = name[1 - most :]
    scope = end.find("/")
    return "…" + (end[scope:] if 0 <= scope <= most // 3 else end)

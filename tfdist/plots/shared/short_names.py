"""Names of nodes, shortened to fit beside what they name."""

from __future__ import annotations

MOST_CHARACTERS = 30  # of a name beside its bar
GAP = "…"


def shorten(name: str, most: int = MOST_CHARACTERS) -> str:
    """Return `name`, without its middle if it is longer than `most` characters.

    Scopes say where, the end says what: of a name with scopes the first and as many of the last
    are kept as there is room for; else a third of the room is the beginning's.
    """
    if len(name) <= most:
        return name
    first, *inner = name.split("/")
    kept = ""
    for part in reversed(inner):
        if len(f"{first}/{GAP}/{part}{kept}") > most:
            break
        kept = f"/{part}{kept}"
    if kept:
        return f"{first}/{GAP}{kept}"
    head = (most - 1) // 3
    return name[:head] + GAP + name[head + 1 - most :]

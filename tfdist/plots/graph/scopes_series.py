"""Series of parts that are made alike, such as layer_1 to layer_9: each is drawn as one part."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfdist.plots.graph.scopes_data import Part, nodes_text

SERIES_OF_SCOPES, SERIES_OF_NODES = 4, 5  # fewer are drawn one by one
MOST_SPLIT = 200  # parts of a series that is cut in pieces
REST = "everything else"
_NUMBER = re.compile(r"_?\d+")


def without_numbers(name: str) -> str:
    """Return what names that are alike have in common."""
    return _NUMBER.sub("", name)


def least(part: Part) -> int:
    return SERIES_OF_SCOPES if len(part.members) > 1 else SERIES_OF_NODES


def runs(group: Sequence[int], takers: Sequence[set[int]]) -> list[list[int]]:
    """Return a series in pieces between which the graph goes through something else."""
    if not _passes_others(group, takers):
        return [list(group)]
    if len(group) > MOST_SPLIT:  # it would take long, and would not do
        return []
    found: list[list[int]] = [[]]
    for i in group:
        if _passes_others([*found[-1], i], takers):
            found.append([])
        found[-1].append(i)
    return found


def _passes_others(group: Sequence[int], takers: Sequence[set[int]]) -> bool:
    """Return whether a way leads from one of a series through something else to another."""
    own = set(group)
    stack = [j for i in group for j in takers[i] if j not in own]
    seen = set(stack)
    while stack:
        for j in takers[stack.pop()]:
            if j in own:
                return True
            if j not in seen:
                seen.add(j)
                stack.append(j)
    return False


def joined(parts: Sequence[Part], groups: Sequence[Sequence[int]]) -> list[Part]:
    """Return `parts`, those of each group as one, where the first of them was."""
    first = {group[0]: _series([parts[i] for i in group]) for group in groups}
    gone = {i for group in groups for i in group[1:]}
    return [first.get(i, part) for i, part in enumerate(parts) if i not in gone]


def _series(parts: Sequence[Part]) -> Part:
    members = tuple(sorted(member for part in parts for member in part.members))
    title = f"{parts[0].title} … {parts[-1].title}"
    abouts = {part.about for part in parts}
    about = f"each {parts[0].about}" if len(abouts) == 1 else nodes_text(len(members))
    return Part(parts[0].name, title, about, members, times=len(parts))


def fewer(parts: list[Part], most: int) -> list[Part]:
    """Return at most `most` parts: those with names alike as one, then all that is too much."""
    alike: dict[str, list[int]] = {}
    for i, part in enumerate(parts):
        alike.setdefault(without_numbers(part.title), []).append(i)
    found = joined(parts, [group for group in alike.values() if len(group) > 1])
    if len(found) <= most:
        return found
    kept = sorted(found, key=lambda part: -len(part.members))[: most - 1]
    names = {part.name for part in kept}
    members = tuple(sorted(m for part in found if part.name not in names for m in part.members))
    rest = Part("", REST, nodes_text(len(members)), members)
    return [*(part for part in found if part.name in names), rest]

"""Tasks of like shape: where there are many, one of them is drawn and stands for all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby

from tfdist.plots.shared.blocks import Placed
from tfdist.plots.shared.placed_nodes import by_device, node_of

MOST_SIDE_BY_SIDE = 6  # tasks that a notebook's width has room for
_PARTS = re.compile(r"^/job:(\w+)(?:/replica:\d+)?/task:(\d+)(.*)$")
_NUMBER = re.compile(r"_?\d+")


def folded_tasks(
    names: Sequence[str],
    shape: Callable[[str], Hashable],
    most: int = MOST_SIDE_BY_SIDE,
) -> dict[str, str]:
    """Return the devices or tasks to draw, and what to say of those that stand for others.

    Args:
      names: of devices or tasks, in order.
      shape: what is the same for those that are alike.
      most: if there are no more, each is drawn.

    Returns:
      For each that is drawn "", or "worker:1…19, 19 alike".
    """
    if len(names) <= most:
        return dict.fromkeys(names, "")
    groups = _grouped(names, shape)
    if len(groups) > most:  # then one of each job stands for all, though they differ
        groups = _grouped(names, lambda name: ())
        return {each[0]: _title(each, "tasks") for each in groups}
    return {each[0]: _title(each, "alike") for each in groups}


def without_alike(nodes: Sequence[Placed]) -> tuple[list[Placed], dict[str, str]]:
    """Return the nodes to draw, and what to say of devices that stand for others."""
    members = by_device(nodes)
    if len(members) <= MOST_SIDE_BY_SIDE:
        return list(nodes), dict.fromkeys(members, "")
    job = {node.name: _parts(node.device)[0] for node in nodes}
    home = {node.name: node.device for node in nodes}

    def shape(device: str) -> Hashable:
        return frozenset(Counter(_shape(node, job, home) for node in members[device]).items())

    titles = folded_tasks(list(members), shape)
    return [node for node in nodes if node.device in titles], titles


def _shape(node: Placed, job: dict[str, str], home: dict[str, str]) -> Hashable:
    """Return what nodes have in common that are alike: numbers in names do not count."""
    sources = [node_of(name) for name in node.inputs]
    taken = [
        (_stem(name), "" if home.get(name) == node.device else job.get(name, ""))
        for name in sources
    ]
    return node.op, _stem(node.name), tuple(sorted(set(taken)))


def _stem(name: str) -> str:
    return _NUMBER.sub("", name)


def _parts(name: str) -> tuple[str, int, str]:
    """Return (job, index, rest) of a device or task."""
    found = _PARTS.match(name)
    return (found[1], int(found[2]), found[3]) if found else (name, 0, "")


def _grouped(names: Iterable[str], shape: Callable[[str], Hashable]) -> list[list[str]]:
    found: dict[Hashable, list[str]] = {}
    for name in names:
        job, _, rest = _parts(name)
        found.setdefault((job, rest, shape(name)), []).append(name)
    return list(found.values())


def _title(names: Sequence[str], what: str) -> str:
    if len(names) == 1:
        return ""
    job, _, rest = _parts(names[0])
    gpu = rest.rpartition("/device:")[2].lower()
    on = f"/{gpu}" if gpu.startswith("gpu") else ""
    return f"{job}:{_ranges([_parts(name)[1] for name in names])}{on}, {len(names)} {what}"


def _ranges(numbers: Iterable[int]) -> str:
    """Return numbers as text: "0…3, 5"."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(found) for _, found in runs)]
    return ", ".join(str(a) if a == b else f"{a}…{b}" for a, b in ends)

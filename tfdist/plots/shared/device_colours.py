"""The colour of a device: by its task's place in the cluster spec, so it is the same everywhere.

Hues are Okabe and Ito's eight. Of a cluster of more tasks the next eight are darker, those after
them lighter, and then they repeat. Devices of which no cluster is known have hues in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfdist.plots.shared.palette import OKABE_ITO, mixed

_TASK = re.compile(r"^(?:/job:)?(\w+)(?:/replica:\d+)?(?:/task:|:)?(\d+)?")
_GPU = re.compile(r"gpu:(\d+)", re.IGNORECASE)
_SHADES = ((0.0, ""), (0.35, "#000000"), (0.45, "#FFFFFF"))  # share of what is mixed in

_places: dict[tuple[str, int], int] = {}  # of the tasks of the cluster that was used last


def place_tasks(tasks: Iterable[tuple[str, int]]) -> None:
    """Let devices have the colours of their places among `tasks` from now on.

    Args:
      tasks: (job, index) of each, in the order of the cluster spec.
    """
    _places.clear()
    _places.update((task, i) for i, task in enumerate(tasks))


def device_colours(devices: Sequence[str]) -> dict[str, str]:
    """Return "#RRGGBB" for each device or task, however its name is written."""
    found: dict[str, str] = {}
    strange = len(_places)
    for device in devices:
        place = _place(device)
        if place is None:
            place, strange = strange, strange + 1
        found[device] = _colour(place)
    return found


def _place(device: str) -> int | None:
    """Return the place of a device's task; GPUs follow after all tasks."""
    match = _TASK.match(device)
    task = match and _places.get((match[1], int(match[2] or 0)))
    if task is None:
        return None
    gpu = _GPU.search(device)
    return task + len(_places) * (1 + int(gpu[1]) if gpu else 0)


def _colour(place: int) -> str:
    turn, hue = divmod(place, len(OKABE_ITO))
    share, other = _SHADES[turn % len(_SHADES)]
    return mixed(other, OKABE_ITO[hue], share) if share else OKABE_ITO[hue]

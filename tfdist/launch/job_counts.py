"""How many tasks each job of a new cluster has, as one types it: "ps=1 worker=4"."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TYPED = re.compile(r"(?P<job>[A-Za-z]\w*)=(?P<tasks>[1-9]\d{0,4})", re.ASCII)


def parse_jobs(texts: Iterable[str]) -> dict[str, int]:
    """Return the number of tasks of each job that `texts` name.

    Raises:
      ValueError: a text is no job with its number of tasks, or names one again.

    Example:
      >>> parse_jobs(["ps=1", "worker=4"])
      {'ps': 1, 'worker': 4}
    """
    found: dict[str, int] = {}
    for text in texts:
        match = _TYPED.fullmatch(text)
        if not match or match["job"] in found:
            raise ValueError(
                f"{text!r} is not JOB=N, such as worker=2, with one task or more, of a job not "
                "named before"
            )
        found[match["job"]] = int(match["tasks"])
    return found

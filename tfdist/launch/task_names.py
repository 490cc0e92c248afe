"""Names of tasks: "/job:worker/task:1", as one types them, and as files have them."""

from __future__ import annotations

import re

_TYPED = re.compile(r"(?:/job:)?(?P<job>[A-Za-z]\w*)(?:(?::|/task:)(?P<task>\d+))?")


def parse_task(text: str) -> tuple[str, int]:
    """Return (job, index) of "worker:1", "/job:worker/task:1" or, for the first, "worker".

    Raises:
      ValueError: it is none of these.
    """
    found = _TYPED.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no task: try worker:1 or /job:worker/task:1")
    return found["job"], int(found["task"] or 0)


def short_name(text: str) -> str:
    """Return "worker:1" for whatever `parse_task` takes; ValueError for anything else.

    Example:
      >>> short_name("/job:worker/task:1"), short_name("ps")
      ('worker:1', 'ps:0')
    """
    job, index = parse_task(text)
    return f"{job}:{index}"


def split_task(name: str) -> tuple[str, int]:
    """Return (job, index) of "/job:J/task:I", the whole name, which a cluster gave.

    Unlike what is typed, a job may have any name that a ClusterSpec has.

    Example:
      >>> split_task("/job:my-job/task:1")
      ('my-job', 1)
    """
    job, _, index = name.removeprefix("/job:").rpartition("/task:")
    return job, int(index)


def file_stem(name: str) -> str:
    """Return the name of a task's files, without suffix.

    Example:
      >>> file_stem("/job:worker/task:1")
      'worker-1'
    """
    return name.removeprefix("/job:").replace("/task:", "-")


def log_name(name: str) -> str:
    """Return the name of a task's log: "worker-1.log"."""
    return f"{file_stem(name)}.log"

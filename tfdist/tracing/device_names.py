"""Names of devices and of their tasks: in order, in plain, and as one types them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tfdist.tracing.simulated import marked


@lru_cache(maxsize=1024)
def device_order(device: str) -> tuple[Any, ...]:
    """Return a sort key: by job, then by task as a number, CPUs before GPUs."""
    return tuple([int(part) if part.isdigit() else part for part in re.split(r"(\d+)", device)])


def short_device(device: str) -> str:
    """Return the name as one types it: "/job:ps/task:0", "/job:ps/task:0/gpu:1 (simulated)"."""
    short = device.replace("/replica:0", "").replace("/device:CPU:0", "")
    short = re.sub(r"/device:(\w+):", lambda part: f"/{part[1].lower()}:", short) or device
    return marked(device, short)


def task_of(device: str) -> str:
    """Return the task of a device, as the device names it.

    Example:
      >>> task_of("/job:worker/replica:0/task:1/device:CPU:0")
      '/job:worker/replica:0/task:1'
    """
    return device.partition("/device:")[0]


def plain_task(device: str) -> str:
    """Return the task of a device, or a task's own name, without the replica.

    Example:
      >>> plain_task("/job:worker/replica:0/task:1/device:CPU:0")
      '/job:worker/task:1'
    """
    return task_of(device).replace("/replica:0", "")


def short_name(device: str) -> str:
    """Return the task of a device as one types it.

    Example:
      >>> short_name("/job:worker/replica:0/task:1")
      'worker:1'
    """
    return plain_task(device).removeprefix("/job:").replace("/task:", ":")

"""Names of tasks, from those of their devices: as they are, in plain, and as one types them."""

from __future__ import annotations


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

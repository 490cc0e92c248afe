"""The devices of a task."""

from __future__ import annotations

import os
import random
from typing import NamedTuple

from tfdist.base.devices import DeviceSpec, parse


class Device(NamedTuple):
    """One device.

    Attributes:
      name: full name.
      device_type: "CPU" or "GPU".
      memory_limit: bytes.
      incarnation: random number of this life of the task.
    """

    name: str
    device_type: str
    memory_limit: int
    incarnation: int

    @property
    def spec(self) -> DeviceSpec:
        """Return the name, parsed."""
        return parse(self.name)


def cpu_devices(job: str, task: int, count: int = 1) -> tuple[Device, ...]:
    """Return `count` CPU devices of a task; together they are the host's processors."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    prefix = f"/job:{job}/replica:0/task:{task}/device:CPU"
    return tuple(
        Device(f"{prefix}:{index}", "CPU", memory, random.getrandbits(62) | 1)
        for index in range(count)
    )

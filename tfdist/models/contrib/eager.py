"""tf.contrib.eager: of the names for eager programs those that mean something in a graph."""

from __future__ import annotations

from typing import Any

from tfdist.session.device_lib import list_local_devices
from tfdist.session.process_config import experimental_list_devices

__all__ = [
    "ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT", "DEVICE_PLACEMENT_WARN",
    "SYNC", "get_optimizer_variables", "in_eager_mode", "list_devices", "num_gpus",
]  # fmt: skip

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2


def in_eager_mode() -> bool:
    """Return False: programs make graphs here.

    Example:
      >>> contrib.eager.in_eager_mode()
      False
    """
    return False


def num_gpus() -> int:
    """Return how many GPUs sessions of this process have.

    Example:
      >>> contrib.eager.num_gpus()
      0
    """
    return sum(device.device_type == "GPU" for device in list_local_devices())


def list_devices() -> list[str]:
    """Return the names of the devices that sessions of this process have.

    Example:
      >>> len(contrib.eager.list_devices())
      1
    """
    return experimental_list_devices()


def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """Return the variables that an optimizer has made.

    Example:
      >>> contrib.eager.get_optimizer_variables(GradientDescentOptimizer(0.1))
      []
    """
    return list(optimizer.variables())

"""Names of the ways in which devices add values up: there is one way here, whichever is named.

Source: TF 1.15 API documentation, tf.distribute.CrossDeviceOps.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AllReduceCrossDeviceOps", "CrossDeviceOps", "HierarchicalCopyAllReduce",
    "MultiWorkerAllReduce", "NcclAllReduce", "ReductionToOneDevice",
]  # fmt: skip


class CrossDeviceOps:
    """A way in which devices add values up; strategies take one, and do not use it.

    Args:
      *arguments: what the way takes.
      **options: the same, by name.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments = arguments, options


class ReductionToOneDevice(CrossDeviceOps):
    """To one device, which sends the sum to the others."""


class NcclAllReduce(CrossDeviceOps):
    """By NVIDIA's library."""


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """In groups of devices first."""


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """By the way that a name says."""


class MultiWorkerAllReduce(CrossDeviceOps):
    """Over the devices of several workers."""

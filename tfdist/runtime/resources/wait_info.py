"""What a resource that steps wait for can tell about itself, for messages and pictures."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple


class Waiting(NamedTuple):
    """Somebody who waits.

    Attributes:
      who: as the machine was told; in a task the wait itself.
      missing: how many elements it still has to get, or places to find for its own.
    """

    who: Hashable
    missing: int


class ResourceInfo(NamedTuple):
    """The state of a queue, accumulator, barrier or staging area at one moment.

    Attributes:
      kind: the class that programs make, as in "RandomShuffleQueue".
      name: by which it is found, or that of its node.
      container: where; "" for the default one.
      fill: how many elements are ready in it.
      capacity: how many it holds at most, -1 if there is no bound.
      min_after_dequeue: how many stay in while it is open.
      closed: whether it takes no more.
      producers: those who wait for room, in the order in which they will find it.
      consumers: those who wait for elements, in the order in which they will be served.
    """

    kind: str
    name: str
    container: str
    fill: int
    capacity: int = -1
    min_after_dequeue: int = 0
    closed: bool = False
    producers: tuple[Waiting, ...] = ()
    consumers: tuple[Waiting, ...] = ()


class WaitInfo(NamedTuple):
    """What a wait waits for, beside the sentence of its `describe`.

    Attributes:
      kind: see `tracing.waits.Wait`.
      needs: "elements" or "room" of a resource; "" if it is something else.
      missing: how many of them.
      resource: the resource, which has `info()` of its own; None if there is none.
      tensor: that another task is to send, or "".
      source: device that sends it, or "".
      who: stands in the resource's line, which tells what is needed, how many, and the kind; None
        if all that is said here.
    """

    kind: str
    needs: str = ""
    missing: int = 0
    resource: Any = None
    tensor: str = ""
    source: str = ""
    who: Hashable = None


def receive_info(key: str) -> WaitInfo:
    """Return what the wait for a tensor waits for, by the key of its transfer."""
    source, _, _, name, _ = key.split(";")
    return WaitInfo("tensor", tensor=name, source=source)

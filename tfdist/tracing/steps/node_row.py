"""One row of a traced step: one run of one node, or one transfer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset
from tfdist.tracing.device_names import device_order
from tfdist.tracing.steps.loop_iterations import OUTSIDE, Rounds

COMPUTE, QUEUE, TRANSFER = KINDS = ("compute", "queue", "transfer")


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One run of one node, or one transfer.

    Attributes:
      device: full name of the device that ran or received it.
      name: the node, or the tensor that was transferred.
      op: type of the op; of a transfer "RecvTensor", or what a profiler calls a copy to or from a
        GPU of the same task: "MEMCPYHtoD", "MEMCPYDtoH" or "MEMCPYDtoD".
      kind: "compute", "queue" (may have waited for an element) or "transfer".
      start_us: microseconds since the step's beginning; of a transfer, when its tensor was there.
      duration_us: microseconds.
      bytes: size of the outputs.
      lane: rows of one device and lane do not overlap; transfers have lanes of their own.
      source: device that sent a transfer, "" for a node.
      inputs: names of the nodes whose outputs it took.
      waited_us: microseconds before the start in which a transfer's tensor was not there yet.
      delay_us: microseconds for which its task was at something else: before the start of a node
        whose inputs were all there; at the end of a transfer, whose tensor had come.
      send_us: microseconds from a transfer's start until it had left its sender.
      edge: number of the cut edge that a transfer crossed, -1 if it is not known.
      clock: how far the device's clock was ahead of ours; the times here are by ours.
      rounds: in which round of which loops it ran.
      disturbed: the words of what was wrong on purpose with its task, or with its way.
    """

    device: str
    name: str
    op: str
    kind: str
    start_us: float
    duration_us: float
    bytes: int = 0
    lane: int = 0
    source: str = ""
    inputs: tuple[str, ...] = ()
    waited_us: float = 0.0
    delay_us: float = 0.0
    send_us: float = 0.0
    edge: int = -1
    clock: ClockOffset = SAME_CLOCK
    rounds: Rounds = OUTSIDE
    disturbed: str = ""

    @property
    def end_us(self) -> float:
        """Return the end, in microseconds since the step's beginning."""
        return self.start_us + self.duration_us

    @property
    def arrived_us(self) -> float:
        """Return when a transfer's tensor came; of a node, its end."""
        return self.end_us - (self.delay_us if self.kind == TRANSFER else 0.0)


def devices(step_rows: Iterable[NodeRow]) -> list[str]:
    """Return the devices that ran, received or sent something, in natural order."""
    names = {name for row in step_rows for name in (row.device, row.source) if name}
    return sorted(names, key=device_order)

"""What one entry of step statistics says: its times, its size, and what its label tells in text.

TensorFlow puts into the label of a node what it computed from what, and into that of a transfer
what came from where; tfdist besides, into that of `_SOURCE`, how the clock of its host was put
right, and behind each the round of a loop (`loop_iterations`). Here the labels are read;
`wire.codec.step_stats` writes them.

Messages are duck-typed: whatever has the fields of TensorFlow's `NodeExecStats` will do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from tfdist.tracing.steps.loop_iterations import Rounds, split_rounds

NodeStats: TypeAlias = Any  # a message NodeExecStats, of our pool or of TensorFlow's

SOURCE = "_SOURCE"  # the node that marks the beginning of a task's part
RECEIVED = "RecvTensor"
SENT = "_Send"

_NODE_LABEL = re.compile(r"\S+ = (?P<op>\w+)\((?P<inputs>.*)\)", re.DOTALL)
_TRANSFER_LABEL = re.compile(
    r"(?:\[[^]]*\] )*"
    r"(?P<route>(?:edge_(?P<edge>\d+)_)?(?P<tensor>\S+) from (?P<source>\S+) to \S+)"
)
_RENAMED_BY_TRANSFER = re.compile(r"(?:_S|/_)(?P<number>\d+)$")  # "a/read_S1": "a/read", received
_FED = re.compile(r"_recv_(?P<node>.+)_(?P<port>\d+)")


class Transfer(NamedTuple):
    """What the label of a transfer tells.

    Attributes:
      tensor: name of the node that made it.
      source: device that sent it.
      edge: number of the edge that was cut, -1 if the label has none.
      route: the label without size, rate and round.
    """

    tensor: str
    source: str
    edge: int
    route: str


def start_nanos(stats: NodeStats) -> int:
    """Return when a node started, in nanoseconds since the epoch."""
    nanos: int = stats.all_start_nanos or stats.all_start_micros * 1000
    return nanos


def duration_nanos(stats: NodeStats) -> int:
    """Return how long a node took from its start until nothing of it was left, in nanoseconds."""
    nanos: int = stats.all_end_rel_nanos or stats.all_end_rel_micros * 1000
    return nanos


def sent_nanos(stats: NodeStats) -> int:
    """Return when a transfer had left its sender, in nanoseconds since the epoch.

    That is its start if nobody knows.
    """
    nanos: int = stats.op_start_rel_nanos or stats.op_start_rel_micros * 1000
    return start_nanos(stats) + nanos


def arrived_nanos(stats: NodeStats) -> int:
    """Return when a transfer came, in nanoseconds since the epoch: before its task took it.

    That is its end if nobody knows.
    """
    nanos: int = stats.op_end_rel_nanos or stats.op_end_rel_micros * 1000
    return start_nanos(stats) + (nanos or duration_nanos(stats))


def scheduled_nanos(stats: NodeStats) -> int:
    """Return when a node could have started, in nanoseconds since the epoch; 0 if that is open."""
    nanos: int = stats.scheduled_nanos or stats.scheduled_micros * 1000
    return nanos


def output_bytes(stats: NodeStats) -> int:
    """Return the size of a node's outputs, in bytes."""
    return sum(
        output.tensor_description.allocation_description.requested_bytes for output in stats.output
    )


def rounds_of(stats: NodeStats) -> Rounds:
    """Return in which round of which loops a node ran or a tensor crossed."""
    return split_rounds(stats.timeline_label)[1]


def parse_label(stats: NodeStats) -> tuple[str, tuple[str, ...]]:
    """Return (op, names of inputs) from the label of a node that is no transfer."""
    op, inputs = _op_and_inputs(split_rounds(stats.timeline_label)[0])
    return op or stats.node_name.rpartition(":")[2], inputs


@lru_cache(maxsize=4096)
def _op_and_inputs(text: str) -> tuple[str, tuple[str, ...]]:
    label = _NODE_LABEL.fullmatch(text)
    if label is None:  # a profiler's "name:Op"
        return "", ()
    inputs = (each.strip().lstrip("^") for each in label["inputs"].split(","))
    return label["op"], tuple([each.partition(":")[0] for each in inputs if each])


def parse_transfer(stats: NodeStats) -> Transfer | None:
    """Return what the label of a transfer tells, or None for a node that is none."""
    if stats.node_name != RECEIVED:
        return None
    text, _ = split_rounds(stats.timeline_label)
    label = _TRANSFER_LABEL.fullmatch(text)
    if label is None:
        return Transfer(stats.node_name, "", -1, text)
    return Transfer(label["tensor"], label["source"], int(label["edge"] or -1), label["route"])


def before_transfer(name: str) -> str:
    """Return the name a tensor had before it was received: "a/read" for "a/read_S1"."""
    return _RENAMED_BY_TRANSFER.sub("", name)


def transfer_number(name: str) -> int:
    """Return the number that a received tensor's name ends with: 1 for "a/read_S1"; -1 if none."""
    ending = _RENAMED_BY_TRANSFER.search(name)
    return int(ending["number"]) if ending else -1


def fed_tensor(name: str) -> str:
    """Return the tensor that was fed and then sent as `name`, "" if that is no such name."""
    fed = _FED.fullmatch(name)
    if fed is None:
        return ""
    return fed["node"] if fed["port"] == "0" else f"{fed['node']}:{fed['port']}"

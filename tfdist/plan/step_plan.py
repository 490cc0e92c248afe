"""What is planned: a kind of step, and what each task does in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tfdist.base.dtypes import DType
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.records import Node
from tfdist.graph.signatures import walk_args
from tfdist.plan.prune import Endpoint


class Signature(NamedTuple):
    """What one kind of step takes and gives.

    Attributes:
      feeds: tensors whose values are given, in order.
      fetches: tensors whose values are wanted, in order.
      targets: nodes that are to run without giving a value.
    """

    feeds: tuple[Endpoint, ...]
    fetches: tuple[Endpoint, ...]
    targets: tuple[str, ...]

    @property
    def feed_names(self) -> list[str]:
        """Return the feeds as "NODE:INDEX"."""
        return [f"{name}:{port}" for name, port in self.feeds]

    @property
    def fetch_names(self) -> list[str]:
        """Return the fetches as "NODE:INDEX"."""
        return [f"{name}:{port}" for name, port in self.fetches]


class Partition(NamedTuple):
    """What one task runs in a step.

    Attributes:
      task: "/job:J/replica:R/task:T".
      nodes: with full device names, inputs first.
      feeds: tensors that the caller of the step gives to this task, in order.
      fetches: tensors that it wants back from this task, in order.
      library: the functions that kernels of the nodes may call.
    """

    task: str
    nodes: tuple[Node, ...]
    feeds: tuple[Endpoint, ...] = ()
    fetches: tuple[Endpoint, ...] = ()
    library: Library = NO_FUNCTIONS


@dataclass(frozen=True)
class StepPlan:
    """All partitions of a step, the client's task first; `feeds` and `fetches` live there."""

    signature: Signature
    partitions: tuple[Partition, ...]


def output_types(node: Node) -> list[DType]:
    """Return the types of the outputs of `node`, references included."""
    return [dtype for _, dtype in walk_args(node.op_def.signature.outputs, node.attrs)]

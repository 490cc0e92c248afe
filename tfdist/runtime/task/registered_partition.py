"""A partition as a worker keeps it: with the programs that it was made into."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tfdist.graph.records import Node
from tfdist.plan.compiling.node_bindings import RuntimeCallbacks
from tfdist.plan.compiling.program import Program
from tfdist.plan.frames import has_control_flow
from tfdist.plan.step_plan import Partition
from tfdist.runtime.devices.kernel_threads import tuner_for
from tfdist.runtime.resources.shared_work import share
from tfdist.runtime.resources.variables import Variable
from tfdist.runtime.step.context import NodeContext
from tfdist.runtime.step.descriptions import describe
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.tracing.steps.loop_iterations import OUTSIDE, rounds_in

CALLBACKS = RuntimeCallbacks(
    NodeContext,
    Variable.read,
    time.time_ns,
    describe,
    lambda run: run.session.known,
    rounds_in,
    OUTSIDE,
    share,
)


class RegisteredPartition:
    """A partition and the programs made of it.

    A step that runs once is interpreted; what runs again, or has loops, is compiled. A traced step
    has programs of its own, which note every node.

    Args:
      partition: what a master has registered.
      executor: "auto", or what the worker always does: "compiler", "interpreter".
    """

    def __init__(self, partition: Partition, executor: str) -> None:
        self._partition = partition
        self._executor = executor
        self._programs: dict[tuple[bool, bool], Program] = {}  # by (compiled, traced)
        self._runs = 0
        self._has_loops = has_control_flow(partition.nodes)  # which run again within one step
        self.tuner = tuner_for(partition.nodes)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes."""
        return tuple(self._partition.nodes)

    def has_made(self, program: Program) -> bool:
        """Return whether `program` is one of this partition's."""
        return any(each is program for each in list(self._programs.values()))

    def unit_costs(self) -> Iterator[UnitCost]:
        """Yield what units took that ran and do not wait, in untraced steps."""
        made = list(self._programs.items())
        for program in [program for (_, traced), program in made if not traced]:
            units = zip(program.nodes, program.costs, program.waits, strict=True)
            for nodes, nanos, waits in units:
                if nanos > 0 and not waits:
                    yield UnitCost(tuple([(n.name, n.op) for n in nodes]), nanos)

    def program(self, traced: bool) -> Program:
        """Return the program for the next run."""
        self._runs += 1
        again = self._runs > 1 or self._has_loops
        compiled = self._executor == "compiler" or (self._executor == "auto" and again)
        key = compiled, traced
        found = self._programs.get(key)
        if found is None:
            from tfdist.plan.compiling.compile import (
                build_program,  # a server may run nothing for long
            )

            found = self._programs[key] = build_program(
                self._partition,
                CALLBACKS,
                compiled=compiled,
                grouped=self._executor != "interpreter",
                traced=traced,
            )
        return found

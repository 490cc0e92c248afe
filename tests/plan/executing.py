"""Runs a `Program` without any runtime: units in the order of their counters, on one thread."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import tfdist as tf
from tests.plan.graphs import CLIENT, cluster
from tfdist.graph.records import Node, records
from tfdist.plan.compiling.compile import Program, build_program
from tfdist.plan.compiling.node_bindings import RuntimeCallbacks
from tfdist.plan.compiling.program import Fetch
from tfdist.plan.partitioning.partition import plan_step
from tfdist.plan.place import place
from tfdist.plan.segment import FIRST_VALUE, NOTE
from tfdist.plan.step_plan import Partition, Signature
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.resources.variables import Variable
from tfdist.runtime.step.descriptions import describe


class Environment:
    """What kernels of a test can reach: resources and a log."""

    def __init__(self) -> None:
        self.node: Node | None = None
        self.resources = Resources()
        self.logged: list[str] = []


class Context:
    """A kernel's context; see `graph.op_def.KernelContext`."""

    def __init__(self, environment: Environment, node: Node) -> None:
        self._environment, self.node_name = environment, node.name

    def resource(self, kind: str, container: bytes, name: str, make: Callable[..., Any]) -> Any:
        return self._environment.resources.find(kind, container.decode(), name, make)

    def known(self) -> None:
        """Return that this node found nothing before."""

    def log(self, text: str) -> None:
        self._environment.logged.append(text)


FORMS = [
    {"compiled": compiled, "grouped": grouped, "traced": traced}
    for compiled, grouped, traced in itertools.product((False, True), repeat=3)
]


def form_name(form: dict[str, bool]) -> str:
    """Return a form in words."""
    return " ".join([
        "compiled" if form["compiled"] else "interpreted",
        "segments" if form["grouped"] else "nodes",
        "traced" if form["traced"] else "plain",
    ])  # fmt: skip


def partition_of(graph: tf.Graph, fetches: Iterable[Any], feeds: Iterable[Any] = ()) -> Partition:
    """Return the only partition of a step on one task."""
    nodes = {node.name: node for node in records(graph.get_operations())}
    placement = place(list(nodes.values()), nodes, {}, cluster("a0"))
    elements = [graph.as_graph_element(each) for each in fetches]
    signature = Signature(
        tuple((each.op.name, each.value_index) for each in feeds),
        tuple((e.op.name, e.value_index) for e in elements if isinstance(e, tf.Tensor)),
        tuple(each.name for each in elements if isinstance(each, tf.Operation)),
    )
    [partition] = plan_step(nodes, placement, signature, CLIENT, {}).partitions
    return partition


def build(partition: Partition, form: dict[str, bool]) -> Program:
    """Return the program of a partition; its clock counts 0, 1, 2..."""
    callbacks = RuntimeCallbacks(Context, Variable.read, itertools.count().__next__, describe)
    return build_program(partition, callbacks, **form)


def execute(
    program: Program, feeds: Iterable[Any] = (), environment: Environment | None = None
) -> tuple[list[Any], list[Any]]:
    """Return the fetched values and the notes of a run; units that wait cannot run here."""
    values: list[Any] = list(program.template)
    notes: list[Any] = []
    values[0], values[NOTE] = environment or Environment(), notes.append
    for place_, value in enumerate(feeds, FIRST_VALUE):
        values[place_] = value
    pending, ready = list(program.pending), list(program.start)
    ran = 0
    while ready:
        unit = ready.pop()
        assert not program.waits[unit]
        program.functions[unit](values)
        ran += 1
        for dependent in program.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append(dependent)
    assert ran == len(program.functions), "units that never became ready"
    return [fetched(values, each) for each in program.fetches], notes


def fetched(values: list[Any], fetch: Fetch) -> Any:
    """Return a fetched value, which may be that of a variable."""
    value = values[fetch.place]
    return value if fetch.variable is None else value.read()

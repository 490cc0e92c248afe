"""Placed nodes by hand: the tutorial graph over three tasks, and a long one."""

from tests.tracing.samples import PS, WORKER0, WORKER1
from tfdist.session.recording import PlacedNode

PINNED_PS = "pinned to /job:ps"


def three_task_nodes() -> list[PlacedNode]:
    """Return a variable on the ps, an addition on each worker and an unpinned placeholder."""
    worker, second = "/job:worker", "/job:worker/task:1"
    with_a = "with its variable a"
    return [
        PlacedNode("a/initial_value", "Const", "/job:ps", PS, PINNED_PS, ()),
        PlacedNode("a", "VariableV2", "/job:ps", PS, PINNED_PS, ()),
        PlacedNode("a/Assign", "Assign", "/job:ps", PS, with_a, ("a", "a/initial_value")),
        PlacedNode("a/read", "Identity", "/job:ps", PS, with_a, ("a",)),
        PlacedNode("add/y", "Const", worker, WORKER0, f"pinned to {worker}", ()),
        PlacedNode("add", "AddV2", worker, WORKER0, f"pinned to {worker}", ("a/read", "add/y")),
        PlacedNode("add_1", "AddV2", second, WORKER1, f"pinned to {second}", ("a/read", "add")),
        PlacedNode("x", "Placeholder", "", PS, "first device of the cluster", ()),
        PlacedNode("mul", "Mul", second, WORKER1, f"pinned to {second}", ("add_1", "x")),
    ]


def layered_nodes(layers: int) -> list[PlacedNode]:
    """Return a network with its weights on the ps and its layers on the workers in turn."""
    return [
        node
        for i in range(layers)
        for scope, device in ((f"layer{i}", (WORKER0, WORKER1)[i % 2]),)
        for node in (
            PlacedNode(f"{scope}/w", "VariableV2", "", PS, "", ()),
            PlacedNode(f"{scope}/w/read", "Identity", "", PS, "", (f"{scope}/w",)),
            PlacedNode(
                f"{scope}/MatMul",
                "MatMul",
                "",
                device,
                "",
                (f"layer{i - 1}/Relu", f"{scope}/w/read"),
            ),
            PlacedNode(f"{scope}/Relu", "Relu", "", device, "", (f"{scope}/MatMul",)),
        )
    ]

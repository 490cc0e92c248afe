"""Placed nodes by hand: the tutorial graph over three tasks, a long one, one with blocks."""

from tests.tracing.samples import PS, WORKER0, WORKER1
from tfdist.session.blocks import Block
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


LOOP, COND = Block("loop", "while"), Block("cond", "while/choose")
SIDES = Block("true", "while/choose"), Block("false", "while/choose")


def looping_nodes() -> list[PlacedNode]:
    """Return a loop over two workers; in its body one of two sides is chosen."""

    def inner(name: str, op: str, device: str, *inputs: str, within: tuple[Block, ...] = ()):
        return PlacedNode(f"while/{name}", op, "", device, "", inputs, (LOOP, *within))

    taken, other = (COND, SIDES[0]), (COND, SIDES[1])
    return [
        PlacedNode("start", "Const", "", WORKER0, "", ()),
        inner("Enter", "Enter", WORKER0, "start"),
        inner("Merge", "Merge", WORKER0, "while/Enter", "while/NextIteration"),
        inner("less", "Less", WORKER0, "while/Merge"),
        inner("LoopCond", "LoopCond", WORKER0, "while/less"),
        inner("Switch", "Switch", WORKER0, "while/Merge", "while/LoopCond"),
        inner("Exit", "Exit", WORKER0, "while/Switch"),
        inner("Identity", "Identity", WORKER0, "while/Switch"),
        inner("pick", "Less", WORKER0, "while/Identity"),
        inner("choose/pred_id", "Identity", WORKER0, "while/pick", within=(COND,)),
        inner("choose/a/Switch", "Switch", WORKER1, "while/Identity", "while/choose/pred_id",
              within=taken),
        inner("choose/a", "Neg", WORKER1, "while/choose/a/Switch", within=taken),
        inner("choose/b/Switch", "Switch", WORKER0, "while/Identity", "while/choose/pred_id",
              within=other),
        inner("choose/b", "Abs", WORKER0, "while/choose/b/Switch", within=other),
        inner("choose/Merge", "Merge", WORKER0, "while/choose/a", "while/choose/b", within=(COND,)),
        inner("NextIteration", "NextIteration", WORKER0, "while/choose/Merge"),
        PlacedNode("done", "Neg", "", WORKER0, "", ("while/Exit",)),
        PlacedNode("extra", "Neg", "", PS, "", ("start",)),
    ]  # fmt: skip

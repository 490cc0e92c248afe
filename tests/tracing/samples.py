"""Step statistics by hand: the step of the three-task tutorial graph as TensorFlow 1.15 reports it.

with tf.device("/job:ps"): a = tf.Variable(1.0)
with tf.device("/job:worker"): b = a + 2
with tf.device("/job:worker/task:1"): c = a + b
session on worker 0: run(c)
"""

from collections.abc import Sequence
from typing import Any

from tfdist.protos import pb
from tfdist.tracing.disturbances import Disturbance, label_of
from tfdist.tracing.steps.loop_iterations import Rounds, with_rounds

PS, WORKER0, WORKER1 = (
    f"/job:{job}/replica:0/task:{task}/device:CPU:0"
    for job, task in (("ps", 0), ("worker", 0), ("worker", 1))
)
EPOCH = 1_700_000_000_000_000  # microseconds: when the step of the samples begins


def node(name: str, op: str, inputs: str, start: int, duration: int, size: int = 4) -> Any:
    """Return the statistics of a node; times in microseconds since the step began."""
    return _stats(name, f"{name} = {op}({inputs})", start, duration, size)


def transfer(
    tensor: str, source: str, target: str, start: int, duration: int, size: int = 4, edge: int = 4
) -> Any:
    """Return the statistics of a transfer; times in microseconds since the step began."""
    label = f"[{size}B] [0.164103Mb/s] edge_{edge}_{tensor} from {source} to {target}"
    return _stats("RecvTensor", label, start, duration, size)


def beginning(start: int = 0, clock: str = "", wrong: Sequence[Disturbance] = ()) -> Any:
    """Return the statistics of `_SOURCE`; its label has a clock and what is wrong on purpose.

    Args:
      start: microseconds since the step began.
      clock: such as "+123 us +- 40 us".
      wrong: disturbances.
    """
    label = f"_SOURCE = NoOp(){label_of(wrong)}" + (f" [clock {clock}]" if clock else "")
    return _stats("_SOURCE", label, start, 1, 0)


def step(*entries: tuple[str, list[Any]]) -> Any:
    """Return the `StepStats` of (device, statistics) entries."""
    return pb.StepStats(
        dev_stats=[pb.DeviceStepStats(device=device, node_stats=stats) for device, stats in entries]
    )


def three_tasks() -> Any:
    """Return the tutorial step's `StepStats`: entries, labels and order as in TensorFlow 1.15."""
    return step(
        (
            WORKER0,
            [
                transfer("a/read", PS, WORKER0, 400, 195),
                transfer("add_1", WORKER1, WORKER0, 1440, 160),
            ],
        ),
        (
            WORKER1,
            [
                transfer("a/read", PS, WORKER1, 390, 239),
                transfer("add", WORKER0, WORKER1, 1210, 180),
            ],
        ),
        ("/host:CPU", [_stats("a:VariableV2", "id=6,device=/job:ps/...,async=false", 320, 23, 0)]),
        (
            PS,
            [
                node("_SOURCE", "NoOp", "", 290, 5),
                node("a", "VariableV2", "", 300, 49),
                node("a/read", "Identity", "a", 352, 3),
            ],
        ),
        (
            WORKER1,
            [
                node("_SOURCE", "NoOp", "", 380, 1),
                node("add_1", "AddV2", "a/read_S3, add_S5", 1420, 10),
            ],
        ),
        (
            WORKER0,
            [
                node("_SOURCE", "NoOp", "", 385, 3),
                node("add/y", "Const", "", 392, 5),
                node("add", "AddV2", "a/read_S1, add/y", 600, 760),
            ],
        ),
    )


def in_round(stats: Any, *numbers: int, loops: tuple[str, ...] = ("while",)) -> Any:
    """Return `stats` with a label that tells in which round of which loops that was."""
    stats.timeline_label = with_rounds(stats.timeline_label, Rounds(loops, numbers))
    return stats


def disturbed() -> Any:
    """Return the statistics of a step on a slow task, which gave a tensor by a late way."""
    wrong = [Disturbance("slow", "ps", "", 3.0), Disturbance("delay", "ps:0", "worker:0", 0.03)]
    return step(
        (PS, [beginning(wrong=wrong), node("a", "Const", "", 0, 30)]),
        (
            WORKER0,
            [beginning(wrong=wrong, clock="+5 us +- 2 us"), transfer("a", PS, WORKER0, 30, 9)],
        ),
        (WORKER0, [node("b", "Neg", "a_S1", 40, 5)]),
    )


def loop(count: int) -> Any:
    """Return the `StepStats` of a loop of `count` rounds: worker 0 decides, worker 1 multiplies.

    A round takes 100 microseconds; it begins and ends on worker 0.
    """
    here = [node("start", "Const", "", 0, 2), node("while/Enter", "Enter", "start", 3, 1)]
    there, to_here, to_there = [node("k", "Const", "", 0, 2)], [], []
    there.append(node("while/k", "Enter", "k", 3, 1))
    for i in range(count + 1):
        begin, is_last = 10 + 100 * i, i == count
        ran = [
            node("while/Merge", "Merge", "while/Enter, while/NextIteration", begin, 1),
            node("while/less", "Less", "while/Merge", begin + 5, 3),
            node("while/LoopCond", "LoopCond", "while/less", begin + 10, 1),
            node("while/Switch", "Switch", "while/Merge, while/LoopCond", begin + 15, 1),
        ]
        if is_last:
            ran.append(node("while/Exit", "Exit", "while/Switch", begin + 20, 1))
        else:
            ran.append(node("while/Identity", "Identity", "while/Switch:1", begin + 20, 1))
            ran.append(node("while/NextIteration", "NextIteration", "while/grow_S9", begin + 90, 1))
            grown = node("while/grow", "Mul", "while/Identity_S7, while/k", begin + 40, 10)
            there.append(in_round(grown, i))
            sent = transfer("while/Identity", WORKER0, WORKER1, begin + 25, 10, edge=7)
            to_there.append(in_round(sent, i))
            back = transfer("while/grow", WORKER1, WORKER0, begin + 60, 20, edge=9)
            to_here.append(in_round(back, i))
        here += [in_round(each, i) for each in ran]
    here.append(node("done", "Neg", "while/Exit", 40 + 100 * count, 2))
    return step((WORKER0, to_here), (WORKER1, to_there), (WORKER0, here), (WORKER1, there))


def _stats(name: str, label: str, start: int, duration: int, size: int) -> Any:
    described = pb.TensorDescription(
        allocation_description=pb.AllocationDescription(requested_bytes=size)
    )
    return pb.NodeExecStats(
        node_name=name,
        timeline_label=label,
        all_start_micros=EPOCH + start,
        op_end_rel_micros=duration,
        all_end_rel_micros=duration,
        output=[pb.NodeOutput(tensor_description=described)] if size else [],
    )

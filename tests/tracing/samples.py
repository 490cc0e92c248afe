"""Step statistics by hand: the step of the three-task tutorial graph as TensorFlow 1.15 reports it.

with tf.device("/job:ps"): a = tf.Variable(1.0)
with tf.device("/job:worker"): b = a + 2
with tf.device("/job:worker/task:1"): c = a + b
session on worker 0: run(c)
"""

from typing import Any

from tfdist.protos import pb

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


def beginning(start: int = 0, clock: str = "") -> Any:
    """Return the statistics of `_SOURCE`; `clock` such as "+123 us +- 40 us" stands in its label.

    Its time is in microseconds since the step began.
    """
    label = f"_SOURCE = NoOp() [clock {clock}]" if clock else "_SOURCE = NoOp()"
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

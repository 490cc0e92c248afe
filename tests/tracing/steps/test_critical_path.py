"""Critical paths of steps written by hand: what is on them, and what the waits were."""

import pytest

from tests.tracing.samples import PS, WORKER0, WORKER1, three_tasks
from tfdist.tracing.steps.critical_path import critical_path, path_shares
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows


def node(name, start, duration, *inputs, device=PS):
    return NodeRow(device, name, "Neg", "compute", start, duration, inputs=inputs)


def transfer(name, start, duration, source=PS, device=WORKER0, delay=0):
    return NodeRow(
        device, name, "RecvTensor", "transfer", start, duration, source=source, delay_us=delay
    )


def told(path):
    """Return (name, kind, microseconds, blocker) of each segment."""
    return [(s.row.name, s.kind, s.duration_us, s.blocker) for s in path.segments]


CASES = [
    ("a node alone is the path", [node("a", 0, 10)], [("a", "compute", 10, "")]),
    (
        "the input that came last is on the path, the other is not",
        [node("a", 0, 10), node("b", 0, 4, device=WORKER0), node("c", 10, 5, "a")],
        [("a", "compute", 10, ""), ("c", "compute", 5, "")],
    ),
    (
        "what passes after the input was there, with nothing running, is scheduling",
        [node("a", 0, 10), node("b", 13, 5, "a")],
        [("a", "compute", 10, ""), ("b", "scheduling", 3, ""), ("b", "compute", 5, "")],
    ),
    (
        "a node of another task that ran meanwhile is named",
        [node("a", 0, 10), node("other", 11, 4, device=WORKER1), node("b", 16, 5, "a")],
        [
            ("a", "compute", 10, ""), ("b", "scheduling", 1, ""),
            ("b", "contention", 4, "other"), ("b", "scheduling", 1, ""), ("b", "compute", 5, ""),
        ],
    ),
    (
        "a node that its task ran before is on the path, though nobody took what it made",
        [node("a", 0, 10), node("first", 10, 20), node("b", 30, 5, "a")],
        [("a", "compute", 10, ""), ("first", "compute", 20, ""), ("b", "compute", 5, "")],
    ),
    (
        "a transfer counts from when it was sent",
        [node("a", 0, 10), transfer("a", 4, 16), node("b", 20, 5, "a", device=WORKER0)],
        [("a", "compute", 10, ""), ("a", "transfer", 10, ""), ("b", "compute", 5, "")],
    ),
    (
        "a task that only receives runs nothing that a tensor could wait for",
        [node("a", 0, 10), transfer("a", 10, 6)],
        [("a", "compute", 10, ""), ("a", "transfer", 6, "")],
    ),
    (
        "a tensor that has come waits for the node that its task runs: that is on the path",
        [node("a", 0, 10), node("long", 2, 28, device=WORKER0), transfer("a", 10, 22, delay=15),
         node("b", 32, 5, "a", device=WORKER0)],
        [
            ("long", "contention", 2, "a"), ("long", "compute", 28, ""),
            ("a", "scheduling", 2, ""), ("b", "compute", 5, ""),
        ],
    ),
    (
        "a tensor that has come and is not taken while another task runs waits for the processor",
        [node("a", 0, 10), node("long", 12, 18, device=WORKER1), transfer("a", 10, 22, delay=17),
         node("b", 32, 5, "a", device=WORKER0)],
        [
            ("a", "compute", 10, ""), ("a", "transfer", 5, ""), ("a", "contention", 15, "long"),
            ("a", "scheduling", 2, ""), ("b", "compute", 5, ""),
        ],
    ),
    (
        "the step begins with the request, not with the first node of the path",
        [node("a", 3, 10), node("early", 0, 1, device=WORKER0)],
        [
            ("a", "contention", 1, "early"), ("a", "scheduling", 2, ""), ("a", "compute", 10, ""),
        ],
    ),
    (
        "nodes that seem to need each other, such as those of a loop, do not hang it",
        [node("a", 0, 10, "b"), node("b", 10, 10, "a")],
        [("a", "compute", 10, ""), ("b", "compute", 10, "")],
    ),
    ("what takes no time is no segment", [node("a", 0, 0), node("b", 0, 4, "a")],
     [("b", "compute", 4, "")]),
    ("nothing ran", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("step", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_path(step, expected):
    assert told(critical_path(step)) == expected


@pytest.mark.parametrize("step", [c[1] for c in CASES] + [rows(three_tasks())])
def test_the_segments_follow_each_other_and_add_up_to_the_step(step):
    path = critical_path(step)
    ends = [0.0, *(each.end_us for each in path.segments)]
    assert [each.start_us for each in path.segments] == ends[:-1]
    assert path.span_us == max((row.end_us for row in step), default=0.0)
    assert sum(path.by_kind().values()) == pytest.approx(path.span_us)


def test_what_is_there_for_the_order_only_is_marked():
    path = critical_path([node("a", 0, 10), node("first", 10, 20), node("b", 30, 5, "a")])
    assert {each.row.name: each.in_order for each in path.segments} == {
        "a": True,
        "first": True,
        "b": False,
    }


def test_kinds_come_longest_first():
    path = critical_path([node("a", 0, 10), node("b", 30, 15, "a")])
    assert list(path.by_kind().items()) == [("compute", 25), ("scheduling", 20)]


def test_several_runs_are_summed_up():
    """What is on the path of one run of four, for a short time, comes last."""
    b = node("b", 0, 4, device=WORKER0)
    runs = [[node("a", 0, 10), b, node("c", 10, 5, "a")] for _ in range(3)]
    runs.append([node("a", 0, 1), node("b", 1, 6), node("c", 7, 5, "b")])
    shares = path_shares([critical_path(run) for run in runs])
    assert [(each.row.name, each.runs, each.median_us) for each in shares] == [
        ("a", 4, 10),
        ("c", 4, 5),
        ("b", 1, 6),
    ]

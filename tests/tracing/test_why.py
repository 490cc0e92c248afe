"""What is said of waits: who waits for whom, in sentences."""

import pytest

from tests.tracing.test_deadlocks import OTHER, TASK, fills, receives, sends, takes
from tfdist.tracing.waits import Report, ResourceStatus, StepStatus, Unreachable, merged
from tfdist.tracing.why import NOTHING, explain


def stock(name, **more):
    return ResourceStatus(name, "FIFOQueue", name, TASK, 0, 3, **more)


def steps(*numbers, **more):
    """Steps in flight, the first of which began first."""
    return tuple(
        StepStatus(number, f"session {number}", OTHER, (f"f{number}:0",), 10.0 - number, **more)
        for number in numbers
    )


def because(report):
    return [row.because for row in explain(report).waits]


def test_nothing_is_in_flight():
    assert explain(Report()).lines() == [NOTHING]


def test_a_queue_that_nobody_fills():
    report = Report(steps(1), (takes(1, "q"),), (stock("q"),))
    assert explain(report).lines() == [
        "1 step waits.",
        "step 1 (f1), 9.0 s so far",
        "  take on /job:ps/task:0, for 0.0 s: elements of q",
        "    no step in flight fills it; no graph that is known here has a node that could fill it",
    ]


def test_nodes_that_could_fill_it_are_named():
    deeds = tuple(fills(0, "q", node=f"put{i}")._replace(op="QueueEnqueueV2") for i in range(6))
    report = Report(steps(1), (takes(1, "q"),), (stock("q"),), deeds)
    assert because(report) == [
        "no step in flight fills it; put0 (QueueEnqueueV2), put1 (QueueEnqueueV2), "
        "put2 (QueueEnqueueV2) and 3 more could, but no running step has it"
    ]


@pytest.mark.parametrize(
    ("deeds", "told"),
    [
        ([fills(2, "q")], "step 2 (f2) will fill it, by put"),
        (
            [fills(2, "q", "wait")],
            "step 2 (f2) will fill it, by put, once it has what it waits for in wait",
        ),
        (
            [fills(2, "q", "stuck")],
            "step 2 (f2) would fill it, by put, but waits itself, in stuck",
        ),
    ],
    ids=["at once", "after a wait that ends", "after one that does not"],
)
def test_steps_that_fill_it_are_named(deeds, told):
    waits = (
        takes(1, "q"),
        takes(2, "helped", node="wait"),
        takes(2, "alone", node="stuck"),
    )
    report = Report(steps(1, 2, 3), waits, (stock("q"),), (*deeds, fills(3, "helped")))
    assert because(report)[0] == told


def test_a_deadlock_is_named_queue_by_queue():
    waits = (takes(1, "p"), takes(2, "q"))
    deeds = (fills(1, "q", "take"), fills(2, "p", "take"))
    report = Report(steps(1, 2), waits, (stock("p"), stock("q")), deeds)
    found = explain(report)
    assert found.deadlocks == (
        "deadlock: step 1 (f1) waits for queue 'p', which only step 2 (f2) fills; "
        "step 2 (f2) waits for queue 'q', which only step 1 (f1) fills",
    )
    assert [row.in_deadlock for row in found.waits] == [True, True]
    assert found.lines()[1] == found.deadlocks[0]


def test_who_could_help_out_of_a_deadlock_is_named():
    deeds = (
        fills(1, "q", "take", node="put"),
        fills(0, "q", node="put"),
        fills(0, "q", node="help"),
    )
    report = Report(steps(1), (takes(1, "q"),), (stock("q"),), deeds)
    assert because(report) == [
        "step 1 (f1) would fill it, by put, but waits itself, in take; "
        "help () could, if a step ran it"
    ]


def test_a_step_can_be_in_its_own_way():
    wait = takes(1, "q", needs="room")
    pending = fills(1, "q", "take", node="get", gives="room")
    [told] = explain(Report(steps(1), (wait,), (stock("q"),), (pending,))).deadlocks
    assert told == (
        "deadlock: step 1 (f1) waits for room in queue 'q', which only it empties itself, later"
    )


def test_a_receive_is_led_back_to_what_it_waits_for():
    waits = (takes(1, "q"), receives(1, "a"), receives(1, "b", node="second"))
    deeds = (sends(1, "a", "take"), sends(1, "b", "receive", task=OTHER))
    report = Report(steps(1), waits, (stock("q"),), deeds)
    found = explain(report)
    told = {row.wait.node: (row.because, row.leads_back) for row in found.waits}
    back = ("it is made from take on /job:ps/task:0, which waits, too", True)
    assert told["receive"] == told["second"] == back
    assert [row.wait.node for row in found.told()] == ["take"]


def test_a_receive_from_a_task_that_computes():
    now = steps(1, computing=(f"MatMul on {TASK}",))
    found = explain(Report(now, (receives(1, "a"),), deeds=(sends(1, "a"),)))
    assert found.lines() == [
        "1 step runs.",
        "step 1 (f1), 9.0 s so far: computes MatMul on /job:ps/task:0",
    ]
    assert found.waits[0].because == "/job:ps/task:0 has still to compute it"


def test_a_receive_from_a_task_that_does_not_tell():
    silent = (Unreachable("/job:ps/task:0", "no answer"),)
    found = explain(Report(steps(1), (receives(1, "a"),), silent=silent))
    assert found.waits[0].because == "/job:ps/task:0 did not tell what it does"
    assert found.lines()[-1] == "/job:ps/task:0: no answer"


def test_steps_are_called_by_what_they_fetch_and_the_oldest_first():
    fetched = [("a:0",), ("x:0", "y:1"), tuple("pqrstu"), ()]
    now = [StepStatus(n, "", "", names, float(n)) for n, names in enumerate(fetched)]
    assert list(explain(Report(tuple(now))).names.values()) == [
        "step 1 (of another program)",
        "step 2 (p, q, r and 3 more)",
        "step 3 (x and y:1)",
        "step 4 (a)",
    ]


def test_a_wait_of_an_unknown_step_is_told_too():
    found = explain(Report(waits=(takes(7, "q"),), stocks=(stock("q"),)))
    assert found.names == {7: "step 1 (of another program)"}


def test_without_times_the_text_is_the_same_in_every_run():
    texts = {
        "\n".join(explain(Report((step,), (takes(1, "q"),), (stock("q"),))).lines(False))
        for step in (steps(1)[0], steps(1)[0]._replace(seconds=3.0))
    }
    assert len(texts) == 1


def test_a_timeout_is_told():
    assert explain(Report(steps(1, timeout=12.5))).lines()[1] == (
        "step 1 (f1), 9.0 s so far of 12.5 s at most: runs"
    )


# merging


def test_two_processes_tell_of_one_step():
    part = StepStatus(1, "s", "", (), 2.0, 0.0, ("b on y",))
    whole = StepStatus(1, "s", OTHER, ("f:0",), 1.0, 5.0, ("a on x",))
    for order in ((part, whole), (whole, part)):
        [step] = merged(Report((each,)) for each in order).steps
        assert (step.master, step.fetches, step.timeout) == (OTHER, ("f:0",), 5.0)
        assert (step.seconds, sorted(step.computing)) == (2.0, ["a on x", "b on y"])


def test_what_is_told_twice_stands_once():
    report = Report(
        steps(1), (takes(1, "q"),), (stock("q"),), (fills(1, "q"),), (Unreachable("t", "why"),)
    )
    assert merged([report, report]) == report


def test_one_step_can_be_asked_for_and_the_others_are_still_named():
    waits = (takes(1, "p"), takes(2, "q"), takes(3, "alone"))
    deeds = (fills(1, "q", "take"), fills(2, "p", "take"))
    found = explain(Report(steps(1, 2, 3), waits, (stock("p"), stock("q")), deeds))
    second = found.of_step(2)
    assert second.names == {2: "step 2 (f2)"}
    [row] = second.waits
    assert row.because == "step 1 (f1) would fill it, by put, but waits itself, in take"
    assert second.deadlocks == found.deadlocks
    assert found.of_step(3).deadlocks == ()
    assert found.of_step(4).lines() == [NOTHING]

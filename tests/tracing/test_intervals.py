"""Intervals: what the difference of two counts says that a task did."""

import pytest

from tfdist.tracing.census import Census, TaskStatus
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.intervals import Interval, intervals, is_first, silences, whole

TASK = "/job:worker/task:0"
OTHER = "/job:worker/task:1"


def status(seconds, computed=0.0, moved=0.0, waited=0.0, processor=0.0, life=1, task=TASK, pid=7):
    return TaskStatus(
        task, life, process=pid, seconds=seconds, processor=processor,
        computed=computed, moved=moved, waited=waited,
    )  # fmt: skip


def history(*moments):
    """Return the history of looks, a second apart; each has the tasks that told."""
    found = CensusHistory()
    for i, told in enumerate(moments):
        found.add(float(i), Census(tuple(told)))
    return found


@pytest.mark.parametrize(
    ("later", "shares"),
    [
        pytest.param({}, (0, 0, 0, 1), id="who counted nothing was idle"),
        pytest.param({"computed": 0.25}, (0.25, 0, 0, 0.75), id="computing leaves the rest idle"),
        pytest.param(
            {"computed": 0.2, "moved": 0.1, "waited": 0.4}, (0.2, 0.1, 0.4, 0.3), id="each is told"
        ),
        pytest.param({"computed": 3.0}, (1, 0, 0, 0), id="several threads compute all of the time"),
        pytest.param(
            {"computed": 0.9, "moved": 0.4, "waited": 1.0},
            (0.9, 0.1, 0, 0),
            id="what goes on at the same time is computing first, then moving",
        ),
        pytest.param({"waited": -0.1}, (0, 0, 0, 1), id="what seems to shrink is nothing"),
    ],
)
def test_shares_of_an_interval(later, shares):
    (found,) = intervals(history([status(10.0)], [status(11.0, **later)]), TASK)
    assert (found.begin, found.end) == (0.0, 1.0)
    assert found.shares == pytest.approx(shares)
    assert sum(found.shares) == pytest.approx(1.0)


def test_the_tasks_own_clock_counts():
    (found,) = intervals(history([status(0.0)], [status(4.0, computed=1.0, processor=2.0)]), TASK)
    assert (found.shares[0], found.processors) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("moments", "spans"),
    [
        pytest.param([[status(0.0)]], [], id="one look tells of no interval"),
        pytest.param(
            [[status(0.0)], [], [status(2.0)], [status(3.0)]],
            [(2.0, 3.0)],
            id="where it did not tell there is none",
        ),
        pytest.param(
            [[status(5.0)], [status(6.0)], [status(0.5, life=2)], [status(1.5, life=2)]],
            [(0.0, 1.0), (2.0, 3.0)],
            id="a restart ends one",
        ),
        pytest.param([[status(0.0)], [status(0.0)]], [], id="a clock that stands tells nothing"),
    ],
)
def test_where_intervals_are(moments, spans):
    found = history(*moments)
    assert [(each.begin, each.end) for each in intervals(found, TASK)] == spans
    assert (whole(intervals(found, TASK)) is None) == (not spans)


def test_many_looks_are_few_intervals_of_the_same_time():
    found = history(*([status(float(i), computed=0.5 * i)] for i in range(200)))
    told = intervals(found, TASK, most=20)
    assert len(told) <= 20
    assert {each.shares[0] for each in told} == {0.5}
    assert (told[0].begin, told[-1].end) == (0.0, pytest.approx(199, abs=10))
    part = intervals(found, TASK, begin=50.0, end=60.0)
    assert [(each.begin, each.end) for each in part] == [(50.0 + i, 51.0 + i) for i in range(10)]


def test_all_of_a_watch_is_the_average_by_time():
    found = history([status(0.0)], [status(1.0, computed=1.0)], [status(4.0, computed=1.0)])
    assert whole(intervals(found, TASK)).shares == pytest.approx(
        (0.5, 0, 0, 0.5)
    )  # a second each, as seen


def test_what_is_the_processes_is_told_at_its_first_task():
    told = [status(0.0), status(0.0, task=OTHER)]
    assert [is_first(history(told), each) for each in (TASK, OTHER)] == [True, False]
    apart = [each._replace(process=i) for i, each in enumerate(told)]
    assert [is_first(history(apart), each) for each in (TASK, OTHER)] == [True, True]
    assert not is_first(history([]), TASK)


@pytest.mark.parametrize(
    ("spans", "until", "silent"),
    [
        ([], 9.0, []),  # it was never seen
        ([(0, 1), (1, 2)], 0.0, []),
        ([(0, 1), (3, 4)], 0.0, [(1, 3)]),
        ([(2, 3)], 5.0, [(3, 5)]),  # before it was first seen it may not have been there
        ([(0, 1), (3, 4)], 6.0, [(1, 3), (4, 6)]),
    ],
)
def test_where_a_task_did_not_tell(spans, until, silent):
    found = [Interval(begin, end, (0, 0, 0, 1), 0.0) for begin, end in spans]
    assert silences(found, until) == silent

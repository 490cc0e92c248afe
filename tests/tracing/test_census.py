"""Censuses as records: joined, told again only after a change, and what their differences say."""

import pytest

from tfdist.tracing.census import (
    Allocation,
    Census,
    TaskStatus,
    Traffic,
    Waiter,
    filled,
    merged,
    since,
)
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import plain_task
from tfdist.tracing.waits import ResourceStatus, Unreachable

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
LINK = Traffic(PS, WORKER, 3, 300)
QUEUE = ResourceStatus("key", "FIFOQueue", "q", PS, 1, 3)
WHOLE = Census(
    (TaskStatus(PS, 7, ("cpu:0",), steps=5, seconds=1.0),),
    (QUEUE,),
    (Waiter("key", "take", PS, "elements", 1, 0.5),),
    (LINK,),
    (Allocation(PS, "variable", "v", 4, "float32[]"),),
    (Unreachable("/job:worker/task:0", "no answer"),),
)


def test_what_two_tell_stands_in_the_union_once_and_in_order():
    other = Census((TaskStatus("/job:a/task:0"),), traffic=(LINK._replace(source="/job:a/task:0"),))
    found = merged([WHOLE, other, WHOLE])
    assert [task.task for task in found.tasks] == ["/job:a/task:0", PS]
    assert [each.source for each in found.traffic] == ["/job:a/task:0", PS]
    assert (found.stocks, found.waiters) == (WHOLE.stocks, WHOLE.waiters)


def test_one_name_in_two_containers_is_told_twice():
    [held] = WHOLE.holdings
    other = WHOLE._replace(holdings=(held._replace(container="mine"),))
    assert [each.container for each in merged([WHOLE, other, WHOLE]).holdings] == ["", "mine"]


def test_who_tells_somewhere_is_not_silent():
    told = Census((TaskStatus(WORKER),))
    assert merged([WHOLE, told]).silent == ()


def test_a_task_in_two_lives_is_told_twice():
    lives = [Census((TaskStatus(PS, life),)) for life in (1, 2)]
    assert [task.life for task in merged(lives).tasks] == [1, 2]


@pytest.mark.parametrize(
    ("change", "sent_again"),
    [
        pytest.param({}, set(), id="what has not changed is not sent again"),
        pytest.param({"traffic": ()}, set(), id="what is no more is sent as nothing"),
        pytest.param({"stocks": (QUEUE._replace(fill=2),)}, {"stocks"}, id="one has changed"),
        pytest.param({"traffic": (LINK, LINK._replace(target=PS))}, {"traffic"}, id="one is new"),
    ],
)
def test_an_answer_is_whole_again_beside_the_one_before(change, sent_again):
    first = since(WHOLE)
    now = WHOLE._replace(**change)
    answer = since(now, first.cursor)
    assert {name for name in ("stocks", "traffic", "holdings") if getattr(answer, name)} == (
        sent_again
    )
    assert filled(answer, first)._replace(cursor=()) == now


@pytest.mark.parametrize("cursor", [(), (1,), (1, 2, 3, 4, 5)])
def test_nonsense_for_a_cursor_gets_all(cursor):
    assert since(WHOLE, cursor)._replace(cursor=()) == WHOLE


def steps(history, seconds, count, life=1, sent=0):
    task = TaskStatus(PS, life, steps=count, seconds=100 + seconds)
    history.add(seconds, Census((task,), traffic=(Traffic(PS, WORKER, 1, sent),)))


def test_rates_are_differences_by_the_tasks_own_clock():
    history = CensusHistory()
    assert history.step_rate(PS) is None
    for i in range(11):
        steps(history, i * 0.2, i * 2, sent=i * 100)
    assert history.step_rate(PS) == pytest.approx(10)
    assert history.byte_rate((PS, WORKER)) == pytest.approx(500)
    assert [round(rate) for _, rate in history.step_rates(PS)] == [10] * 10


def test_what_crossed_for_the_first_time_began_at_nothing():
    history = CensusHistory()
    history.add(0.0, Census((TaskStatus(PS, seconds=100.0),)))
    steps(history, 0.5, 0, sent=100)
    assert history.byte_rate((PS, WORKER)) == pytest.approx(200)


def test_after_a_restart_rates_begin_anew():
    history = CensusHistory()
    for seconds, count in [(0.0, 500), (0.2, 502), (0.4, 1), (0.6, 3)]:
        steps(history, seconds, count)
    assert history.step_rate(PS) == pytest.approx(10)
    assert all(0 <= rate <= 10.1 for _, rate in history.step_rates(PS))


def test_a_long_watch_keeps_its_beginning_and_all_of_late():
    history = CensusHistory(most=10)
    for i in range(100):
        steps(history, float(i), i)
    seconds = [moment.seconds for moment in history.samples]
    assert len(seconds) <= 10
    assert seconds[0] == 0.0
    assert seconds[-3:] == [97.0, 98.0, 99.0]
    assert history.seconds == 99.0


def test_the_fill_of_a_queue_over_time():
    history = CensusHistory()
    for i in range(3):
        history.add(i * 0.2, Census(stocks=(QUEUE._replace(fill=i),) * (i != 1)))
    assert [(when, stock.fill) for when, stock in history.fills("key")] == [(0.0, 0), (0.4, 2)]
    assert [stock.fill for stock in history.stocks()] == [2]


def test_the_name_of_a_task_without_what_says_nothing():
    assert plain_task(PS) == "/job:ps/task:0"

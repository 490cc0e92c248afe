"""A simulated step: what follows from costs and links by hand."""

import pytest

from tests.simulation.problems import Maker
from tfdist.simulation.step import simulate_step, units_of
from tfdist.simulation.step_costs import Links, Way

FREE = Links(
    ask_us=0, message_us=0, send_us=0, take_us=0, take_byte_us=0, begin_us=0, end_us=0, unit_us=0,
    thread_us=0,
)  # fmt: skip


def span(made, placed, devices=2, links=FREE, **more):
    return simulate_step(made.problem(devices, links, **more), placed).span_us


@pytest.fixture
def pair():
    """Return a node, then two that take from it and could run at once, then one that takes both."""
    made = Maker()
    first = made.add(10)
    sides = [made.add(100, [first], size=1_000), made.add(100, [first], size=1_000)]
    made.add(10, sides)
    return made


def test_one_device_does_one_thing_after_the_other(pair):
    assert span(pair, [0, 0, 0, 0]) == 220


def test_two_devices_compute_at_once(pair):
    assert span(pair, [0, 0, 1, 0]) == 120


def test_two_devices_of_one_processor_gain_nothing(pair):
    assert span(pair, [0, 0, 1, 0], processors=1) == pytest.approx(220)


@pytest.mark.parametrize(
    ("links", "span_us"),
    [
        (
            Links(**{**vars(FREE), "message_us": 50.0}),
            235,
        ),  # the request, half of it, was late for the first
        (Links(**{**vars(FREE), "send_us": 50.0}), 220),  # each sender is busy with it
        (Links(**{**vars(FREE), "take_us": 50.0}), 220),
        (Links(**{**vars(FREE), "way_byte_us": 0.05}), 370),  # 4 kB there, 1 kB back
        (Links(**{**vars(FREE), "begin_us": 60.0}), 170),  # what is left of it after 10
        (Links(**{**vars(FREE), "unit_us": 5.0}), 135),
    ],
)
def test_what_crosses_costs(pair, links, span_us):
    assert span(pair, [0, 0, 1, 0], links=links) == pytest.approx(span_us)


def test_a_slow_link_is_slow_one_way(pair):
    """The node on device 1 takes a kilobyte from device 0 and gives one back."""
    from_0, back = Way(50, 0.01), Way(1000, 0.0)
    assert span(pair, [0, 0, 1, 0], ways={(0, 1): from_0}) == 120 + 50 + 40
    assert span(pair, [0, 0, 1, 0], ways={(1, 0): back}) == 120 + 1000


def test_the_master_learns_late_that_another_task_has_ended():
    made = Maker()
    made.add(10)
    assert span(made, [1], links=Links(**{**vars(FREE), "end_us": 40.0})) == 50


def test_a_tensor_crosses_once_for_all_that_take_it(pair):
    step = simulate_step(pair.problem(2, FREE), [0, 1, 1, 1])
    assert (step.transfers, step.transfer_bytes) == (1, 4_000)
    assert step.busy_us == (10, 210)


def test_units_are_cut_where_something_is_waited_for(pair):
    units = units_of(pair.problem(), [0, 0, 1, 0])
    assert units.nodes == [[0, 1], [2], [3]]
    assert units.waits_for == [0, 1, 2]
    assert units.sends == {0: [0], 2: [1]}


def test_in_one_process_what_is_short_shares_a_lane_and_what_is_long_has_a_thread(pair):
    assert span(pair, [0, 0, 1, 0], in_one_process=True) == 220
    heavy = Links(**{**vars(FREE), "heavy_us": 50.0})
    assert span(pair, [0, 0, 1, 0], links=heavy, in_one_process=True) == 120


def test_chance_has_no_part_in_it(pair):
    assert span(pair, [0, 1, 0, 1]) == span(pair, [0, 1, 0, 1])

"""A slow unit sleeps before others see what it made, at its end, and in its trace."""

import time

import pytest

from tfdist.graph.records import Node
from tfdist.runtime.disturbances.pace import Pace, keep_pace, run_at_pace

FACTOR = 3.0
COMPUTES = 0.01  # seconds


def compute():
    """Take the processor for a while, by the clock."""
    until = time.perf_counter() + COMPUTES
    while time.perf_counter() < until:
        pass


@pytest.mark.parametrize("parts", [1, 2])
def test_a_unit_takes_its_time_however_often_it_sends(parts):
    def unit(values):
        for _ in range(parts):
            compute()
            keep_pace()

    began = time.perf_counter()
    run_at_pace(unit, [], Pace(FACTOR, None, ()))
    assert time.perf_counter() - began >= FACTOR * parts * COMPUTES - 1e-3


def test_what_it_sends_is_late():
    sent = []

    def unit(values):
        compute()
        keep_pace()
        sent.append(time.perf_counter())

    began = time.perf_counter()
    run_at_pace(unit, [], Pace(FACTOR, None, ()))
    assert sent[0] - began >= FACTOR * COMPUTES - 1e-3


def test_the_processor_is_free_meanwhile():
    def unit(values):
        compute()

    began = time.thread_time()
    run_at_pace(unit, [], Pace(20.0, None, ()))
    assert time.thread_time() - began < 10 * COMPUTES


def test_short_units_pay_together():
    def unit(values):
        until = time.perf_counter() + 1e-5
        while time.perf_counter() < until:
            pass

    began = time.perf_counter()
    for _ in range(1000):
        run_at_pace(unit, [], Pace(FACTOR, None, ()))
    assert time.perf_counter() - began >= FACTOR * 1000 * 1e-5 - 2e-3  # what is owed still


def test_nodes_seem_to_have_taken_what_was_slept():
    node, other = (Node(name, "NoOp", (), (), "", {}) for name in ("node", "other"))
    start = time.time_ns()
    notes = [(other, start, start, None)]  # of another unit, before

    def unit(values):
        first = time.time_ns()
        compute()
        notes.append((node, first, time.time_ns(), "result"))
        notes.append((other, first, first, None))  # of another thread, meanwhile

    run_at_pace(unit, [], Pace(FACTOR, notes, (node,)))
    (_, first, last, result) = notes[1]
    assert last - first >= 0.9e9 * FACTOR * COMPUTES
    assert result == "result"
    assert notes[0] == (other, start, start, None)
    assert notes[2][1] == notes[2][2]


def test_other_threads_and_times_have_no_pace():
    keep_pace()  # nothing is slow here: it returns at once

"""Parallel units: in a step of several tasks, each heavy unit gets a thread of its own.

A unit counts as heavy once it was measured to be. Starting a thread costs some 60 microseconds,
so that short units stay on the driver's thread, and no pool of idle threads is kept. The driver
stays free meanwhile: what a heavy unit sends at its beginning may be what another task waits for.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.plan.compiling.program import UNMEASURED, Program
from tfdist.runtime.disturbances.pace import Pace, run_at_pace
from tfdist.runtime.step.run import Run

HEAVY = 1_000_000  # nanoseconds
LIGHT = 1_000_000  # what takes less may run on a thread that others wait for
_SMALL = 1 << 16  # bytes of feeds that make no step long
_LARGER = 8  # times
_STRAY, _MOMENT = 4, 100_000  # times as long as before, and nanoseconds: no run counts as more


class Ended:
    """A unit that a thread has run; no tuple, as units are that wait to be run."""

    __slots__ = ("error", "run", "unit")

    def __init__(self, run: Run, unit: int, error: BaseException | None) -> None:
        self.run, self.unit, self.error = run, unit, error


def is_heavy(run: Run, unit: int) -> bool:
    """Return whether a unit is worth a thread; interpreted ones note their node in the run."""
    program = run.program
    return program.costs[unit] > HEAVY and program.is_compiled and not program.waits[unit]


def may_be_heavy(run: Run, unit: int) -> bool:
    """Return whether a unit of a slow task may sleep so long that others should not wait for it."""
    program, disturber = run.program, run.task.disturber
    if disturber is None or disturber.factor <= 1 or not program.is_compiled:
        return False
    cost = program.costs[unit]
    return cost == UNMEASURED or cost * disturber.factor > HEAVY


def is_short(program: Program) -> bool:
    """Return whether runs were short so far, and the next will be if it takes as much."""
    if program.may_run_on:
        return False
    if program.frame is not None:
        return UNMEASURED < program.frame.bursts[0] < LIGHT
    costs = program.costs
    return program.is_compiled and UNMEASURED not in costs and sum(costs) < LIGHT


def is_light(program: Program) -> bool:
    """Return whether the next run will be short whatever the values it takes."""
    return not program.has_dynamic_sizes and is_short(program)


def is_usual(program: Program, feeds: list[TensorValue]) -> bool:
    """Return whether feeds are about as large as those that the costs were measured with.

    The average is the costs' own, so that what is `_LARGER` times as large takes about so many
    times as long as what is light.
    """
    fed, usual = sum(map(_bytes_of, feeds)), program.fed[0]
    program.fed[0] = usual + ((fed - usual) >> 2)
    return fed <= usual * _LARGER + _SMALL


def _bytes_of(value: TensorValue) -> int:
    """Return the bytes of what is fed, texts included."""
    size: int = getattr(value, "nbytes", 0)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        size += sum(len(each) for each in value.flat if type(each) is bytes)
    return size


def measure_anew(program: Program) -> None:
    """Forget what units cost: they took longer than they used to."""
    program.costs[:] = [0 if waits else UNMEASURED for waits in program.waits]


def execute(run: Run, unit: int) -> None:
    """Run a unit that does not wait, and note what it cost."""
    program = run.program
    start = time.perf_counter_ns()
    if run.task.disturber is None or run.task.disturber.factor <= 1:
        program.functions[unit](run.values)
    else:
        _execute_slowly(run, unit, run.task.disturber.factor)
    spent, costs = time.perf_counter_ns() - start, program.costs
    run.task.counters.ran(spent)
    before = costs[unit]
    if before > UNMEASURED and spent > _STRAY * before + _MOMENT:
        spent = _STRAY * before + _MOMENT  # it was held up; if it is long now, that shows soon
    costs[unit] = before + ((spent - before) >> 2)


def _execute_slowly(run: Run, unit: int, factor: float) -> None:
    notes = run.notes if run.step.clock else None
    pace = Pace(factor, notes, run.program.nodes[unit])
    run_at_pace(run.program.functions[unit], run.values, pace)


def execute_on_thread(run: Run, unit: int, ended: Callable[[Ended], None]) -> threading.Thread:
    """Run a unit on a thread of its own, which tells its `Ended`; returns the thread."""

    def body() -> None:
        try:
            execute(run, unit)
        except BaseException as error:  # the driver waits for an end, whatever it is
            ended(Ended(run, unit, error))
        else:
            ended(Ended(run, unit, None))

    # the driver's context: NumPy's error state is part of it
    thread = threading.Thread(target=contextvars.copy_context().run, args=(body,), daemon=True)
    thread.start()
    return thread

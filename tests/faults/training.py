"""Rows about training that goes on: 13 to 15 under a MonitoredTrainingSession."""

from __future__ import annotations

import itertools
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import tfdist as tf
from tests.faults.calls import Running, until
from tests.faults.place import Place
from tests.faults.processes import Process, Task
from tests.faults.row import Measured, Row
from tests.faults.trainer import SAVE_STEPS, train

PROGRAM = Path(__file__).with_name("trainer.py")
SEED = 15
KILLS = 20


class Training:
    """A chief that trains in a thread of this process.

    Attributes:
      steps: the global step after each step, in the order in which they were made.
    """

    def __init__(self, place: Place, master: Task) -> None:
        self.steps: list[int] = []
        self._folder = place.folder / "model"
        self._stop = threading.Event()
        self._call: Running = place.call(
            train, master.target, self._folder, True, self._tell, self._stop
        )

    def _tell(self, step: int, value: float) -> None:
        assert value == step, f"variables of two times: global step {step}, value {value:g}"
        self.steps.append(step)

    def saved(self) -> int:
        """Return the global step of the latest checkpoint."""
        path = tf.train.latest_checkpoint(str(self._folder))
        return int(path.rpartition("-")[2]) if path else 0

    def reach(self, count: int, patience: float = 40.0) -> None:
        """Wait until so many steps were made; raises what ended the training before."""
        until(lambda: len(self.steps) >= count or self._call.ended_at, "steps are made", patience)
        if self._call.ended_at:
            self._call.value()

    def end(self) -> None:
        """End it; raises what it raised."""
        self._stop.set()
        self._call.join()
        tf.summary.FileWriterCache.clear()
        self._call.value()


@contextmanager
def training(place: Place, master: Task) -> Iterator[Training]:
    """Train while the context lasts."""
    found = Training(place, master)
    try:
        found.reach(SAVE_STEPS + SAVE_STEPS // 2)
        yield found
    finally:
        found.end()


def restart_one(place: Place, job: str) -> Measured:
    """A task is killed and started again: the training goes on, from the last checkpoint."""
    tasks = place.tasks({"ps": 1, "worker": 1})
    with training(place, tasks["worker", 0]) as chief:
        measured = _restart(chief, [tasks[job, 0]])
        _check(chief.steps, losses=1)
    return measured


def _restart(chief: Training, lost: list[Task]) -> Measured:
    """Kill tasks and start them again; returns how long until the next step."""
    for task in lost:
        task.kill()
    for task in lost:
        task.restart()
    ready, saved, made = time.monotonic(), chief.saved(), len(chief.steps)
    chief.reach(made + 1)
    seconds = time.monotonic() - ready
    chief.reach(made + SAVE_STEPS + 1)
    assert chief.saved() > saved, "there are no checkpoints any more"
    return Measured(seconds, note=f"from step {chief.steps[made - 1]} to {chief.steps[made]}")


def _check(steps: list[int], losses: int | None = None) -> None:
    """Raise AssertionError unless all steps follow each other, but for returns to a checkpoint.

    Args:
      steps: the global step after each step.
      losses: how many returns there are.
    """
    returns = [(a, b) for a, b in itertools.pairwise(steps) if b != a + 1]
    for before, after in returns:
        assert (after - 1) % SAVE_STEPS == 0, f"from step {before} to {after}: no checkpoint"
        assert 0 <= before - after < 2 * SAVE_STEPS, f"from step {before} to {after}: too far"
    assert losses in (None, len(returns)), f"{len(returns)} returns: {returns}"


def restart_all(place: Place) -> Measured:
    """Tasks are killed and started again at random, one or all: no checkpoint is lost."""
    tasks = place.tasks({"ps": 1, "worker": 2})
    dice, slowest = random.Random(SEED), Measured(0.0)
    with training(place, tasks["worker", 0]) as chief:
        for _ in range(KILLS):
            lost = dice.choice([*([each] for each in tasks.values()), list(tasks.values())])
            measured = _restart(chief, lost)
            slowest = max(slowest, measured, key=lambda each: each.seconds)
        _check(chief.steps)
        note = f"seed {SEED}, {KILLS} kills, {chief.steps[-1]} steps at the end"
    return Measured(slowest.seconds, note=note)


def kill_chief(place: Place) -> Measured:
    """A chief's process is killed: its worker trains on; a new chief restores and goes on."""
    tasks = place.tasks({"ps": 1, "worker": 2})
    folder = str(place.folder / "model")
    chief = _trainer(place, tasks["worker", 0].target, folder, "chief")
    worker = _trainer(place, tasks["worker", 1].target, folder, "worker")
    for process in (chief, worker):
        while _step(process) <= 2 * SAVE_STEPS:
            pass
    chief.kill()
    chief.exit_code()
    worker.lines_now()
    before = _step(worker)
    assert _step(worker) > before, "the worker stopped with the chief"
    saved = int(str(tf.train.latest_checkpoint(folder)).rpartition("-")[2])
    begun = time.monotonic()
    second = _trainer(place, tasks["worker", 0].target, folder, "chief")
    first = _step(second)
    seconds = time.monotonic() - begun
    assert saved < first <= saved + 5 * SAVE_STEPS, f"began at {first} after checkpoint {saved}"
    for process in (worker, second):
        _step(process)
    return Measured(seconds, note=f"from checkpoint {saved}; its first step was {first}")


def _trainer(place: Place, *words: str) -> Process:
    command = [sys.executable, str(PROGRAM), *words]
    process = Process(command, place.folder / f"{words[-1]}.log", {})
    return place.enter(_ended(process))  # type: ignore[no-any-return]


@contextmanager
def _ended(process: Process) -> Iterator[Process]:
    try:
        yield process
    finally:
        process.end()


def _step(process: Process) -> int:
    """Return the global step after the next step of a process."""
    line = process.line()
    assert line, f"a trainer has ended: {process.logged()}"
    return int(line.split()[0])


def _row(number: str, sentence: str, bound: float, run: Callable[[Place], Any], quick: bool) -> Row:
    return Row(number, sentence, bound, "", "", run, quick)


ROWS = [
    _row(
        "13 training", "the master of a training session is killed, and started again", 2.0,
        partial(restart_one, job="worker"), False,
    ),
    _row(
        "14 training", "the parameter server of a training session is killed, and started again",
        2.0, partial(restart_one, job="ps"), True,
    ),
    _row("15", "tasks of a training are killed at random, one or all", 4.0, restart_all, False),
    _row("15 chief", "the chief is killed, and another process started", 8.0, kill_chief, False),
]  # fmt: skip

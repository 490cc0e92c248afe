"""A setup of training from traced steps: what one worker really computed, sent and waited for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median

import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.simulation.training import TrainingSetup
from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.spread import BUSY, device_states, step_us

MICRO = 1e-6
LEAST_BYTES = 100_000  # a transfer of fewer tells of latency only


def setup_of(
    steps: Sequence[Sequence[NodeRow]],
    ps_job: str = "ps",
    probed: float = 0.0,
    calls_s: Sequence[float] = (),
) -> TrainingSetup:
    """Return a setup with the times and bytes of traced training steps of one worker.

    What remains of a step besides computing and bytes on cards is the runtime's own time, that of
    messages included. It counts half as latency and half as work of the parameter servers: the one
    is not felt by other workers, the other is. The client's own time, before a step and after it,
    is latency. So one simulated worker takes as long as the traced one. Bandwidth is that of the
    transfers; where none is large, that of a probe, or none.

    Args:
      steps: rows of each run, from `tfdist.tracing.steps.rows.rows`; many runs tell of the spread.
      ps_job: the job that keeps the variables.
      probed: bytes a second of the links, as a probe has it; 0 if there was none.
      calls_s: how long the session's call took of each run, if it is known.

    Raises:
      InvalidArgumentError: there is no run, or in none a task besides `ps_job`'s computed.
    """
    if not steps:
        raise InvalidArgumentError(
            "no traced step to calibrate with; try %trace -n 50 sess.run(op)"
        )
    worker = _worker(steps, ps_job)
    servers = {task for step in steps for task in _tasks(step) if _job(task) == ps_job}
    compute = [_busy_us(step, {worker}) * MICRO for step in steps]
    serving = fmean(_busy_us(step, servers) for step in steps) * MICRO
    whole = [step_us(step) * MICRO for step in steps]
    bandwidth = _bandwidth(steps) or probed or TrainingSetup.ps_bandwidth
    setup = TrainingSetup(
        ps=max(len(servers), 1),
        compute_s=median(compute),
        samples_s=tuple(compute),
        pull_bytes=fmean(_bytes(step, servers, {worker}) for step in steps),
        push_bytes=fmean(_bytes(step, {worker}, servers) for step in steps),
        ps_bandwidth=bandwidth,
        worker_bandwidth=bandwidth,
        ps_work_s=serving / max(len(servers), 1),
    )
    besides = _median_rest(whole, compute)
    own = max(besides - setup.transfers_s, 0.0)
    setup = replace(setup, ps_work_s=setup.ps_work_s + own / 2 / setup.ps)
    called = max(besides, _median_rest(calls_s, compute) if calls_s else 0.0)
    return replace(setup, latency_s=max(called - setup.transfers_s, 0.0))


def _median_rest(whole: Sequence[float], compute: Sequence[float]) -> float:
    """Return what each run took besides computing, the median: how long it computed may vary."""
    return median(taken - part for taken, part in zip(whole, compute, strict=True))


def _worker(steps: Sequence[Sequence[NodeRow]], ps_job: str) -> str:
    """Return the task that computed most, of those that are no parameter servers."""
    busy: dict[str, float] = defaultdict(float)
    for step in steps:
        for task in _tasks(step):
            if _job(task) != ps_job:
                busy[task] += _busy_us(step, {task})
    if not any(busy.values()):
        raise InvalidArgumentError(
            f"in the trace no task besides those of /job:{ps_job} computed anything; trace a step "
            "of a worker, or say which job keeps the variables"
        )
    return max(busy, key=lambda task: busy[task])


def _tasks(step: Sequence[NodeRow]) -> set[str]:
    return {task_of(row.device) for row in step if row.kind != TRANSFER}


def _job(task: str) -> str:
    return task.removeprefix("/job:").partition("/")[0]


def _busy_us(step: Sequence[NodeRow], tasks: set[str]) -> float:
    """Return how long the devices of tasks computed, in microseconds."""
    found = {row.device for row in step if task_of(row.device) in tasks}
    return sum(device_states(step, device)[BUSY] for device in found)


def _bytes(step: Sequence[NodeRow], sources: set[str], targets: set[str]) -> float:
    return sum(
        row.bytes
        for row in step
        if row.kind == TRANSFER
        and task_of(row.source) in sources
        and task_of(row.device) in targets
    )


def tells_bandwidth(steps: Sequence[Sequence[NodeRow]]) -> bool:
    """Return whether a transfer is large enough to tell the bandwidth."""
    return _bandwidth(steps) > 0


def _bandwidth(steps: Sequence[Sequence[NodeRow]]) -> float:
    """Return the bytes a second of large transfers; 0 where there are none."""
    large = [
        (row.bytes, row.arrived_us - row.start_us)
        for step in steps
        for row in step
        if row.kind == TRANSFER and row.bytes >= LEAST_BYTES and row.arrived_us > row.start_us
    ]
    if not large:
        return 0.0
    return float(np.median([size / (took * MICRO) for size, took in large]))

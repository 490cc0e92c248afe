"""A setup from traced steps, made by hand."""

import numpy as np
import pytest

from tfdist import errors
from tfdist.simulation.calibration import setup_of
from tfdist.simulation.training import asynchronous, synchronous
from tfdist.tracing.steps.node_row import COMPUTE, TRANSFER, NodeRow

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def step(gradient_us=10_000.0, size=1_000_000):
    """Return the rows of a step: read, send, compute, send back, apply."""
    sent = 1_500 + gradient_us
    return [
        NodeRow(PS, "w", "Variable", COMPUTE, 0.0, 100.0),
        NodeRow(WORKER, "w", "RecvTensor", TRANSFER, 100.0, 1_000.0, bytes=size, source=PS),
        NodeRow(WORKER, "gradient", "MatMul", COMPUTE, 1_300.0, gradient_us),
        NodeRow(PS, "gradient", "RecvTensor", TRANSFER, sent, 1_000.0, bytes=size, source=WORKER),
        NodeRow(PS, "update", "ApplyGradientDescent", COMPUTE, sent + 1_000, 300.0),
    ]


def test_times_and_bytes_are_those_of_the_trace():
    setup = setup_of([step(9_000.0), step(10_000.0), step(11_000.0)])
    assert setup.compute_s == pytest.approx(0.010)
    assert setup.samples_s == pytest.approx((0.009, 0.010, 0.011))
    assert (setup.pull_bytes, setup.push_bytes) == (1_000_000, 1_000_000)
    assert setup.ps_bandwidth == pytest.approx(1e9)
    # 12.8 ms less 10 of computing, 0.4 of serving and 2 of moving leave 0.4 to the runtime
    assert setup.latency_s == pytest.approx(0.0002)
    assert setup.ps_work_s == pytest.approx(0.0004 + 0.0002)


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("size", [1_000, 1_000_000])  # of small ones, all is the runtime's time
def test_one_simulated_worker_takes_as_long_as_the_traced_one(servers, size):
    more = NodeRow(PS.replace("task:0", "task:1"), "v", "Variable", COMPUTE, 0.0, 100.0)
    setup = setup_of([[*step(size=size), *[more] * (servers - 1)]])
    assert setup.ps == servers
    chance = np.random.default_rng(0)
    assert synchronous(setup, chance, 10).step_s.mean() == pytest.approx(0.0128)
    assert 1 / asynchronous(setup, chance, 10).gradients_per_s == pytest.approx(0.0128)


def test_the_clients_own_time_is_latency():
    steps, calls_s = [step()] * 3, [0.0148, 0.0138, 0.0900]
    assert setup_of(steps, calls_s=calls_s).latency_s == pytest.approx(0.0002 + 0.0020)
    assert setup_of(steps, calls_s=calls_s).ps_work_s == setup_of(steps).ps_work_s


def test_what_varies_with_computing_is_not_the_runtimes():
    """The median of the steps is another one than that of the computing in them."""
    slow_way = NodeRow(PS, "late", "Assign", COMPUTE, 19_000.0, 300.0)
    steps = [[*step(2_000.0), slow_way], step(9_000.0), step(10_000.0)]
    assert setup_of(steps).latency_s == pytest.approx(setup_of([step()]).latency_s, abs=1e-4)


def test_small_transfers_say_nothing_of_bandwidth():
    assert setup_of([step(size=1_000)]).ps_bandwidth == 1e12


def test_what_no_transfer_tells_is_that_of_a_probe():
    assert setup_of([step(size=1_000)], probed=5e8).ps_bandwidth == 5e8
    assert setup_of([step()], probed=5e8).ps_bandwidth != 5e8


def test_the_work_is_spread_over_the_servers():
    other = PS.replace("task:0", "task:1")
    setup = setup_of([[*step(), NodeRow(other, "v", "Variable", COMPUTE, 0.0, 100.0)]])
    assert setup.ps == 2
    # 12.8 ms less 10 of computing and 2 on the worker's card leave 0.8 to the runtime
    assert setup.ps_work_s == pytest.approx((0.0005 + 0.0008 / 2) / 2)


def test_a_step_without_servers_is_computing_alone():
    setup = setup_of([[NodeRow(WORKER, "gradient", "MatMul", COMPUTE, 0.0, 5_000.0)]])
    assert (setup.compute_s, setup.ps, setup.pull_bytes) == (0.005, 1, 0)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "no traced step to calibrate with; try %trace -n 50"),
        ([step()[:1]], "no task besides those of /job:ps computed anything"),
    ],
)
def test_what_cannot_be_used(steps, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        setup_of(steps)

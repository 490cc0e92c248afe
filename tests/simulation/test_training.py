"""Training, simulated: what follows from the setup alone is exact."""

from dataclasses import replace

import numpy as np
import pytest

from tfdist import errors
from tfdist.simulation.training import TrainingSetup, asynchronous, saturation, synchronous

ONE = TrainingSetup(compute_s=0.5)


def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize(
    ("setup", "step_s"),
    [
        pytest.param(ONE, 0.5, id="computing alone"),
        pytest.param(replace(ONE, latency_s=0.1), 0.6, id="messages there and back"),
        pytest.param(replace(ONE, apply_s=0.2), 0.7, id="the update itself"),
        pytest.param(
            replace(ONE, pull_bytes=100.0, ps_bandwidth=1e3), 0.6, id="variables are read"
        ),
        pytest.param(
            replace(ONE, push_bytes=100.0, ps_bandwidth=1e3, ps=2), 0.55, id="two share the bytes"
        ),
        pytest.param(
            replace(ONE, workers=4, pull_bytes=100.0, ps_bandwidth=1e3),
            0.9,
            id="four queue for variables: the last has waited for three",
        ),
        pytest.param(
            replace(ONE, pull_bytes=100.0, worker_bandwidth=200.0), 1.0, id="its own card is slow"
        ),
        pytest.param(
            replace(ONE, pull_bytes=100.0, ps_bandwidth=1e3, overlap=1.0), 0.5, id="hidden"
        ),
        pytest.param(
            replace(ONE, push_bytes=1.0, transfer_start_s=0.1), 0.6, id="once, if bytes are sent"
        ),
        pytest.param(replace(ONE, transfer_start_s=0.1), 0.5, id="no bytes, no start"),
        pytest.param(replace(ONE, workers=3, slow=((1, 4.0),)), 2.0, id="the slowest counts"),
        pytest.param(
            replace(ONE, workers=3, spare=1, slow=((1, 4.0),)), 0.5, id="a spare one is let go"
        ),
        pytest.param(replace(ONE, samples_s=(0.25,)), 0.25, id="a measured time"),
        pytest.param(
            replace(ONE, straggle_share=1.0, straggle_factor=3.0), 1.5, id="all of them straggle"
        ),
    ],
)
def test_a_synchronous_step(setup, step_s):
    run = synchronous(setup, rng(), 50)
    assert np.median(run.step_s) == pytest.approx(step_s)


def test_each_gradient_that_comes_too_late_is_dropped():
    run = synchronous(replace(ONE, workers=3, spare=1, slow=((1, 4.0),)), rng(), 400)
    assert run.dropped == pytest.approx(1, abs=0.1)
    assert run.needed == 2


def test_all_gradients_of_a_step_are_used_without_spares():
    run = synchronous(replace(ONE, workers=3, sigma=0.5), rng(), 100)
    assert run.dropped == 0


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_updates_between_read_and_use_are_those_of_the_others(workers):
    run = asynchronous(TrainingSetup(workers=workers, sigma=0.2), rng(), 4000)
    assert run.staleness.mean() == pytest.approx(workers - 1, rel=0.02)


def test_asynchronous_workers_do_not_wait_for_each_other():
    run = asynchronous(replace(ONE, workers=4, slow=((0, 100.0),)), rng(), 2000)
    assert run.gradients_per_s == pytest.approx(3 / 0.5, rel=0.05)


def test_a_busy_server_limits_asynchronous_workers():
    setup = replace(ONE, workers=50, push_bytes=100.0, ps_bandwidth=1e3)
    assert saturation(setup) == pytest.approx(6)
    run = asynchronous(setup, rng(), 3000)
    assert run.gradients_per_s == pytest.approx(10, rel=0.01)


def test_nothing_saturates_where_servers_cost_no_time():
    assert saturation(ONE) == float("inf")


def test_a_worker_with_a_slow_card_leaves_the_servers_to_more_others():
    """It takes 0.5 s to compute and 2 s to read: of 100 ms of a server's card."""
    setup = replace(ONE, pull_bytes=100.0, ps_bandwidth=1e3, worker_bandwidth=50.0)
    assert saturation(setup) == pytest.approx(25)
    for workers, rate in [(20, 8.0), (40, 10.0)]:
        run = asynchronous(replace(setup, workers=workers), rng())
        assert run.gradients_per_s == pytest.approx(rate, rel=0.02)


def test_chance_comes_in_as_an_argument():
    setup = replace(ONE, workers=5, sigma=0.4, straggle_share=0.1, straggle_factor=3.0)
    first, again = (synchronous(setup, rng(), 30).step_s for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert asynchronous(setup, rng(), 50).step_s == pytest.approx(
        asynchronous(setup, rng(), 50).step_s
    )


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("workers", 0, "1 or more"),
        ("ps", 0, "1 or more"),
        ("overlap", 1.5, "0 to 1"),
        ("straggle_share", -0.1, "0 to 1"),
        ("compute_s", float("nan"), "0 or more"),
        ("ps_bandwidth", 0.0, "1 or more"),
    ],
)
def test_numbers_out_of_range(field, value, wanted):
    with pytest.raises(errors.InvalidArgumentError, match=f"{field} is .*which is not {wanted}"):
        replace(ONE, **{field: value})


def test_at_least_one_worker_is_waited_for():
    with pytest.raises(errors.InvalidArgumentError, match="3 of 3 workers are spare"):
        TrainingSetup(workers=3, spare=3)

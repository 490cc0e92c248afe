"""The choice of threads for matrix products and convolutions."""

import threading

import pytest

import tfdist as tf
from tests.plan.graphs import nodes_of
from tfdist.runtime.devices import kernel_threads
from tfdist.runtime.devices.kernel_threads import ONE_FOR_BLAS, ThreadTuner


def settled(seconds, runs=200):
    """Return the choices of a tuner over many runs; `seconds` says how long each way takes."""
    tuner = ThreadTuner()
    choices = []
    for _ in range(runs):
        choices.append(tuner.choose())
        tuner.record(choices[-1], seconds[choices[-1]])
    return choices


@pytest.mark.parametrize(
    ("all_threads", "one_thread", "mostly"),
    [
        pytest.param(0.010, 0.020, False, id="all threads are faster: they are kept"),
        pytest.param(0.010, 0.011, False, id="by a tenth, too"),
        pytest.param(0.010, 0.0104, True, id="they hardly are: one thread leaves room for others"),
        pytest.param(0.030, 0.004, True, id="the processors are busy: one thread is kept"),
        pytest.param(0.00001, 0.00002, False, id="a short step is left alone"),
    ],
)
def test_the_faster_way_is_kept(all_threads, one_thread, mostly):
    late = settled({False: all_threads, True: one_thread})[20:]
    assert late.count(mostly) / len(late) > 0.9


@pytest.mark.parametrize(
    ("waits", "mostly"),
    [
        pytest.param({False: 0.6, True: 0.5}, True, id="others compute: one thread"),
        pytest.param({False: 0.6, True: 0.0}, False, id="it waits for its own threads only"),
        pytest.param({False: 0.1, True: 0.05}, False, id="it hardly ever waits"),
    ],
)
def test_a_step_that_waits_for_a_processor_takes_one_thread(waits, mostly):
    tuner, choices = ThreadTuner(), []
    for _ in range(200):
        choices.append(tuner.choose())
        seconds = {False: 0.006, True: 0.010}[choices[-1]]
        tuner.record(choices[-1], seconds, seconds * waits[choices[-1]])
    late = choices[20:]
    assert late.count(mostly) / len(late) > 0.95


def test_a_single_run_that_waited_is_forgotten():
    tuner, choices = ThreadTuner(), []
    for _ in range(12):
        choices.append(tuner.choose())
        is_first = choices.count(True) == 1
        tuner.record(choices[-1], {False: 0.006, True: 0.010}[choices[-1]], 0.008 * is_first)
    assert choices[-5:] == [False] * 5


def test_runs_that_were_held_up_now_and_then_do_not_change_the_choice():
    tuner, choices = ThreadTuner(), []
    for run in range(200):
        choices.append(tuner.choose())
        held_up = 0.040 if run > 20 and run % 20 < 2 else 0.0
        tuner.record(choices[-1], {False: 0.006, True: 0.010}[choices[-1]] + held_up)
    assert choices[20:].count(False) / 180 > 0.9


ONEDNN, BLAS = kernel_threads.ONE_FOR_ONEDNN, kernel_threads.ONE_FOR_BLAS


@pytest.mark.parametrize(
    ("make", "on_one", "on_all"),
    [
        pytest.param(
            lambda: tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])), {ONEDNN, BLAS}, {BLAS},
            id="oneDNN computes products of float32, and NumPy's threads would be in their way",
        ),
        pytest.param(
            lambda: tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), 1, "SAME"),
            {ONEDNN, BLAS}, {BLAS}, id="and convolutions",
        ),
        pytest.param(
            lambda: tf.matmul(tf.ones([2, 2], tf.float64), tf.ones([2, 2], tf.float64)),
            {BLAS}, set(), id="NumPy computes products of other types",
        ),
        pytest.param(lambda: tf.linalg.inv(tf.ones([2, 2])), {BLAS}, set(), id="and the rest"),
    ],
)  # fmt: skip
def test_what_is_limited(make, on_one, on_all):
    tuner = kernel_threads.tuner_for(nodes_of(make).values())
    assert (set(tuner.limits(True)), set(tuner.limits(False))) == (on_one, on_all)


def test_a_step_that_only_adds_needs_no_tuner():
    nodes = nodes_of(lambda: tf.ones([2]) + 1.0)
    assert kernel_threads.tuner_for(nodes.values()) is None


def test_a_way_that_became_better_is_found_again():
    tuner = ThreadTuner()
    for run in range(4000):
        single = tuner.choose()
        busy = run < 300
        tuner.record(single, {False: 0.008 if busy else 0.002, True: 0.004}[single])
    assert [tuner.choose() for _ in range(3)] == [False] * 3


def test_a_short_step_never_tries_one_thread():
    assert not any(settled({False: 0.00001, True: 0.000001})[:8])


def test_steps_of_any_thread_limit_it():
    [library] = kernel_threads._libraries()[:1]
    library.set_num_threads(2)  # this thread was the first to say so
    found = []

    def step():
        with ONE_FOR_BLAS:
            found.append(library.num_threads)

    for _ in range(2):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
        step()
    assert found == [1] * 4
    assert library.num_threads == 2


def test_the_number_of_threads_is_put_back():
    [library] = kernel_threads._libraries()[:1]
    before = library.num_threads
    with ONE_FOR_BLAS:
        inside = library.num_threads
    assert (inside, library.num_threads) == (1, before)


def test_steps_that_overlap_put_back_what_was_before_both():
    [library] = kernel_threads._libraries()[:1]
    before = library.num_threads
    library.set_num_threads(2)
    try:
        ONE_FOR_BLAS.__enter__()  # one step
        ONE_FOR_BLAS.__enter__()  # the other one
        ONE_FOR_BLAS.__exit__()
        between = library.num_threads
        ONE_FOR_BLAS.__exit__()
        assert (between, library.num_threads) == (1, 2)
    finally:
        library.set_num_threads(before)

"""Threads that make elements ahead: what comes is the same, in the same order; they end in time."""

import threading

import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE, Call, until

D = tf.data.Dataset
WAITS = 8  # elements after which every stage has found out that a function mostly waits


def waiting(value):
    """Wait a little, as for a file or a server."""
    threading.Event().wait(0.001)
    return value


def through(function):
    def call(x):
        found = tf.py_func(function, [x], tf.int64)
        found.set_shape([])
        return found

    return call


STAGES = {
    "prefetch": lambda d, f: d.map(f).prefetch(3),
    "prefetch of one": lambda d, f: d.map(f).prefetch(1),
    "calls": lambda d, f: d.map(f, num_parallel_calls=4),
    "calls and prefetch": lambda d, f: d.map(f, num_parallel_calls=4).prefetch(2),
    "prefetch twice": lambda d, f: d.prefetch(2).map(f).prefetch(2).map(lambda x: x).prefetch(2),
    "interleave": lambda d, f: d.apply(
        tf.data.experimental.parallel_interleave(lambda x: D.from_tensors(x).map(f), 3)
    ),
    "interleaved calls": lambda d, f: d.interleave(
        lambda x: D.from_tensors(x).map(f), 3, num_parallel_calls=3
    ),
}


@pytest.fixture(params=STAGES)
def stage(request):
    return STAGES[request.param]


def outcomes(session, element, most=100):
    """Return the elements, errors among them by their names, to the end."""
    found = []
    for _ in range(most):
        try:
            found.append(int(session.run(element)))
        except tf.errors.OutOfRangeError:
            return found
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def test_elements_come_in_order(stage):
    element = stage(D.range(30), through(waiting)).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert outcomes(session, element) == list(range(30))


def test_epochs_follow_each_other(stage):
    pipeline = stage(D.range(7), through(waiting)).repeat(3)
    with tf.Session() as session:
        element = pipeline.make_one_shot_iterator().get_next()
        assert outcomes(session, element) == list(range(7)) * 3


def test_errors_come_in_their_place(stage):
    def failing(value):
        if value in (1, 12):
            raise ValueError(f"no {value}")
        return waiting(value)

    element = stage(D.range(20), through(failing)).make_one_shot_iterator().get_next()
    wanted = [i if i not in (1, 12) else "InvalidArgumentError" for i in range(20)]
    with tf.Session() as session:
        assert outcomes(session, element) == wanted


@pytest.mark.parametrize("name", ["prefetch", "calls", "calls and prefetch"])
def test_a_function_ends_the_sequence(name):
    def ending(value):
        if value == 13:
            raise StopIteration
        return waiting(value)

    element = STAGES[name](D.range(20), through(ending)).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert outcomes(session, element) == list(range(13))


def test_a_prefetch_goes_on_while_nobody_asks():
    made = threading.Semaphore(0)

    def counted(value):
        made.release()
        return waiting(value)

    pipeline = D.range(100).map(through(counted)).prefetch(4)
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(WAITS):
            session.run(element)
            assert made.acquire(timeout=PATIENCE)
        for _ in range(4):  # nobody asks for these
            assert made.acquire(timeout=PATIENCE)


def test_calls_run_side_by_side():
    together = threading.Barrier(3)

    def meeting(value):
        if value >= WAITS:
            together.wait(PATIENCE)
        return waiting(value)

    pipeline = D.range(WAITS + 12).map(through(meeting), num_parallel_calls=3)
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert outcomes(session, element) == list(range(WAITS + 12))


def test_what_computes_needs_no_thread():
    pipeline = D.range(50).map(lambda x: x + 1, num_parallel_calls=4).prefetch(4)
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        before = threading.active_count()
        assert outcomes(session, element) == list(range(1, 51))
        assert threading.active_count() == before


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


@pytest.mark.parametrize("name", ["prefetch", "calls", "calls and prefetch"])
def test_a_source_that_waits_loses_no_element(name, server):
    queue = tf.FIFOQueue(100, tf.int64, shapes=[[]])
    value = tf.placeholder(tf.int64, [])
    put = queue.enqueue(value)
    source = D.range(30).map(lambda x: x * 100 + queue.dequeue())
    iterator = STAGES[name](source, through(waiting)).make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session(server.target) as session:
        session.run(iterator.initializer)
        for number in range(30):
            if number % 10 == 9:
                with pytest.raises(tf.errors.DeadlineExceededError) as raised:
                    session.run(element, options=tf.RunOptions(timeout_in_ms=100))
                assert "dequeue on queue" in raised.value.message
            session.run(put, {value: number})
            found.append(int(session.run(element)))
    assert found == [number * 101 for number in range(30)]


@pytest.fixture
def gate():
    """Return what functions wait for once they have found `WAITS` elements; set at the end."""
    gate = threading.Event()
    yield gate
    gate.set()


def gated(gate):
    def function(value):
        if value >= WAITS:
            gate.wait(PATIENCE / 2)
        return waiting(value)

    return through(function)


@pytest.mark.parametrize("name", ["prefetch", "calls"])
def test_a_step_that_waits_for_a_thread_says_so(name, gate):
    element = STAGES[name](D.range(20), gated(gate)).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(WAITS):
            session.run(element)
        call = Call(session.run, element)
        until(lambda: "thread" in str(tf.why()))
        gate.set()
        assert call.result() == WAITS
        assert outcomes(session, element) == list(range(WAITS + 1, 20))


@pytest.mark.parametrize("name", ["prefetch", "calls"])
def test_a_deadline_ends_the_wait_for_a_thread_and_nothing_is_lost(name, gate):
    element = STAGES[name](D.range(20), gated(gate)).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(WAITS):
            session.run(element)
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError) as raised:
                session.run(element, options=tf.RunOptions(timeout_in_ms=100))
            assert "thread" in raised.value.message
        gate.set()
        assert outcomes(session, element) == list(range(WAITS, 20))


ENDLESS = {
    "a filter": lambda d: d.filter(lambda x: x < WAITS),
    "a loop": lambda d: d.map(
        lambda x: tf.while_loop(lambda i: i >= WAITS, lambda i: i * 1, [x], back_prop=False)
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_thread_that_finds_no_end_stops_with_the_session(name):
    pipeline = ENDLESS[name](D.range(WAITS + 5).repeat().map(through(waiting))).prefetch(3)
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(WAITS):
            session.run(element)
        if name == "a loop":
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=tf.RunOptions(timeout_in_ms=150))


def test_an_iterator_that_begins_anew_leaves_its_threads():
    iterator = D.range(10**6).map(through(waiting)).prefetch(3).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(3):
            session.run(iterator.initializer)
            assert [int(session.run(element)) for _ in range(WAITS)] == list(range(WAITS))


def test_random_numbers_go_on_from_epoch_to_epoch():
    pipeline = D.range(2).map(lambda x: tf.random_uniform([], seed=5)).prefetch(1).repeat(2)
    iterator = pipeline.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        found = []
        for _ in range(2):
            session.run(iterator.initializer)
            found.append([float(session.run(element)) for _ in range(4)])
    assert found[0] == found[1]
    assert len(set(found[0])) == 4


def test_lines_that_functions_print_are_printed(capfd):
    def shown(x):
        return tf.Print(through(waiting)(x), [x], "seen ")

    element = D.range(12).map(shown, num_parallel_calls=2).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert outcomes(session, element) == list(range(12))
    printed = capfd.readouterr().err
    assert all(f"seen [{number}]" in printed for number in range(12))

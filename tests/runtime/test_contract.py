"""One contract for all executors and targets: small programs, and what they give, every time."""

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


def arithmetic(place, run):
    with tf.device(place.there):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = x * 2.0
    with tf.device(place.here):
        z = tf.reduce_sum(y + 1.0)
    return [run([y, z], {x: [1.0, 2.0]}), run(z, {x: [0.0, 0.0]}), run(z, {y: [5.0, 5.0]})]


def same_tensor_twice(place, run):
    with tf.device(place.there):
        x = tf.constant([1, 2])
    with tf.device(place.here):
        y = tf.identity(x)
    return run([x, y, x, [y]])


def variables(place, run):
    with tf.device(place.there):
        v = tf.Variable([1.0, 2.0])
    with tf.device(place.here):
        w = tf.Variable(v.initial_value * 10.0)
        total = v + w
    run(tf.global_variables_initializer())
    run(v.assign_add([1.0, 1.0]))
    run([v.assign_sub([0.5, 0.5]), w.assign([0.0, 7.0])])
    return run([v, w, total, v.op])


def a_counter(place, run):
    with tf.device(place.there):
        v = tf.Variable(0)
    raised = v.assign_add(1)
    run(v.initializer)
    return [run(raised) for _ in range(5)]


def read_after_write(place, run):
    with tf.device(place.there):
        v = tf.Variable(1.0)
        with tf.control_dependencies([v.assign_add(1.0)]):
            read = v.read_value()
    with tf.device(place.here):
        after = read + 0.0
    run(v.initializer)
    return [run(after), run(after)]


def order_across_tasks(place, run):
    with tf.device(place.there):
        v = tf.Variable(0)
    with tf.device(place.here):
        first = tf.Variable(0)
    run(tf.global_variables_initializer())
    with tf.device(place.here):
        one = first.assign_add(1)
    with tf.device(place.there), tf.control_dependencies([one]):
        two = v.assign_add(10)
    with tf.device(place.here), tf.control_dependencies([two]):
        three = tf.no_op()
    run(three)
    return run([first, v])


def a_queue(place, run):
    with tf.device(place.there):
        queue = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []])
    put = queue.enqueue_many([[1, 2, 3, 4], ["a", "b", "c", "d"]])
    run(put)
    with tf.device(place.here):
        number, _ = queue.dequeue()
    return [run(number), run(queue.dequeue_many(2)), run(queue.size()), run(queue.dequeue())]


def a_queue_in_one_step(place, run):
    with tf.device(place.there):
        queue = tf.FIFOQueue(10, tf.float32)
        put = queue.enqueue(3.0)
        taken = queue.dequeue()
    with tf.device(place.here):
        doubled = taken * 2.0
    return [run([doubled, put])[0], run(queue.size())]


def a_closed_queue(place, run):
    with tf.device(place.there):
        queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    run(queue.enqueue_many([[1, 2, 3]]))
    run(queue.close())
    results = [run(queue.is_closed()), run(queue.dequeue_up_to(2)), run(queue.dequeue_up_to(2))]
    for ask in (queue.dequeue(), queue.dequeue_up_to(2), queue.enqueue(1)):
        with pytest.raises((tf.errors.OutOfRangeError, tf.errors.CancelledError)) as raised:
            run(ask)
        results.append(type(raised.value).__name__)
    return results


def strings_and_bools(place, run):
    with tf.device(place.there):
        text = tf.stack([tf.constant("a"), tf.placeholder(tf.string, [], name="t")])
        flag = tf.logical_not(tf.constant(True))
    with tf.device(place.here):
        text, flag = tf.identity(text), tf.identity(flag)
    return run([text, flag], {"t:0": "\u00e9"})


def errors(place, run):
    with tf.device(place.there):
        x = tf.placeholder(tf.float32, name="x")
        checked = tf.check_numerics(x, "bad", name="check")
    with tf.device(place.here):
        y = tf.identity(checked) + 1.0
    results = [run(y, {x: 1.0})]
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad") as raised:
            run(y, {x: np.inf})
        results.append((raised.value.op.name, raised.value.device.count("/task:")))
    return [*results, run(y, {x: 2.0})]


def errors_beside_waits(place, run):
    """One branch waits for ever, the other fails: the step ends, and nothing is taken."""
    with tf.device(place.here):
        queue = tf.FIFOQueue(1, tf.int32)
        taken = queue.dequeue()
    with tf.device(place.there):
        failing = tf.check_numerics(tf.placeholder(tf.float32, name="x"), "bad")
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        run([taken, failing], {"x:0": np.nan})
    run(queue.enqueue(5))
    return run([queue.size(), taken])


def uninitialized(place, run):
    with tf.device(place.there):
        v = tf.Variable(1.0, name="v")
    with tf.device(place.here):
        doubled = v * 2.0
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        run(doubled)
    run(v.initializer)
    return run(doubled)


def nothing_to_fetch(place, run):
    with tf.device(place.there):
        n = tf.no_op()
    return [run(n), run([n]), run([])]


def large(place, run):
    with tf.device(place.there):
        x = tf.ones([500, 400])
    with tf.device(place.here):
        y = tf.matmul(x, x, transpose_b=True)
    return [run(y)[499, 499], run(x).nbytes]


def long_chain(place, run):
    with tf.device(place.there):
        x = tf.constant(0)
    for i in range(300):
        with tf.device(place.here if i % 50 else place.there):
            x = x + 1
    return run(x)


PROGRAMS = {
    arithmetic: [[[2.0, 4.0], 8.0], 2.0, 12.0],
    same_tensor_twice: [[1, 2], [1, 2], [1, 2], [[1, 2]]],
    variables: [[1.5, 2.5], [0.0, 7.0], [1.5, 9.5], None],
    a_counter: [1, 2, 3, 4, 5],
    read_after_write: [2.0, 3.0],
    order_across_tasks: [1, 10],
    a_queue: [1, [[2, 3], [b"b", b"c"]], 1, [4, b"d"]],
    a_queue_in_one_step: [6.0, 0],
    a_closed_queue: [True, [1, 2], [3], "OutOfRangeError", "OutOfRangeError", "CancelledError"],
    strings_and_bools: [[b"a", "\u00e9".encode()], False],
    errors: [2.0, ("check", 1), ("check", 1), 3.0],
    errors_beside_waits: [1, 5],
    uninitialized: 2.0,
    nothing_to_fetch: [None, [None], []],
    large: [400.0, 800_000],
    long_chain: 300,
}


def plain(value):
    """Return values without NumPy's types, lists for arrays and lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_every_executor_gives_the_same_everywhere(program, place):
    with tf.Session(place.target) as session:
        assert plain(program(place, session.run)) == PROGRAMS[program]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("executor", ["auto"], indirect=True)  # tracing lets all run by tokens
def test_a_traced_run_gives_the_same(program, place):
    def run(fetches, feed_dict=None):
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        return session.run(fetches, feed_dict, options, tf.RunMetadata())

    with tf.Session(place.target) as session:
        assert plain(program(place, run)) == PROGRAMS[program]

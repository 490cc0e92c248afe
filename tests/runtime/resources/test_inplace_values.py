"""Variables are updated in place where nobody else holds the array, and nobody can tell."""

import threading
import tracemalloc

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import alone, cluster, local_path
from tfdist.errors import InvalidArgumentError
from tfdist.runtime.resources.resource_variables import ResourceVariable
from tfdist.runtime.resources.variables import Variable

WIDTH = 400  # of rows: shorter arrays are not written in place
KINDS = pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def made(resource, value, name="v"):
    return tf.get_variable(name, initializer=np.asarray(value), use_resource=resource)


def ones(*shape):
    return np.ones(shape, np.float32)


# Who may write. The array is made by `make`; what that returns beside it stays alive.
@pytest.mark.parametrize(
    ("make", "in_place"),
    [
        pytest.param(lambda a: (a, None), True, id="nobody else holds it"),
        pytest.param(lambda a: (a, a), False, id="somebody holds it"),
        pytest.param(lambda a: (a, a[1:]), False, id="somebody holds a part of it"),
        pytest.param(lambda a: (a, memoryview(a)), False, id="somebody holds its memory"),
        pytest.param(lambda a: (a[:], None), False, id="it is a part itself"),
        pytest.param(lambda a: (np.frombuffer(a.tobytes(), a.dtype), None), False, id="borrowed"),
        pytest.param(lambda a: (frozen(a), None), False, id="it must not be written to"),
        pytest.param(lambda a: (a.sum(), None), False, id="it is a NumPy scalar"),
    ],
)
@pytest.mark.parametrize("kind", [Variable, ResourceVariable])
def test_who_may_write(kind, make, in_place):
    variable = Variable("v") if kind is Variable else ResourceVariable("v", b"")
    value, other = make(np.arange(1000.0))
    before, held = np.array(value), None if other is None else np.array(other)
    variable.assign(value, *([] if kind is Variable else [tf.float64]))
    del value
    seen = []
    for _ in range(3):
        variable.update(lambda old, out: (seen.append(out is not None), np.add(old, 1, out=out))[1])
    # what was made anew by the first update is the variable's own
    assert seen == [in_place] + 2 * [np.ndim(before) > 0]
    assert np.array_equal(variable.read(), before + 3)
    assert held is None or np.array_equal(other, held)


def frozen(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("error", [InvalidArgumentError("wrong"), KeyboardInterrupt()], ids=repr)
def test_an_error_within_an_update_puts_the_value_back(error):
    variable = Variable("v")
    variable.assign(ones(WIDTH, 3))

    def wrong(old, out):
        raise error

    for _ in range(2):
        with pytest.raises(type(error)):
            variable.update(wrong)
        assert np.array_equal(variable.read(), ones(WIDTH, 3))
    assert not variable.lock.locked()


# Changes of a variable of 4 rows.
def applied(optimizer):
    return lambda v: optimizer.apply_gradients([(tf.constant(ones(4, WIDTH)), v)])


def applied_to_rows(optimizer):
    rows = [1, 3, 1]
    return lambda v: optimizer.apply_gradients(
        [
            (
                tf.IndexedSlices(
                    tf.constant(ones(3, WIDTH)), tf.constant(rows), tf.constant([4, WIDTH])
                ),
                v,
            )
        ]
    )


CHANGES = {
    "assign_add": lambda v: v.assign_add(ones(4, WIDTH)),
    "assign_sub": lambda v: v.assign_sub(ones(4, WIDTH)),
    "scatter_add": lambda v: tf.scatter_add(v, [1, 3, 1], ones(3, WIDTH)),
    "scatter_mul": lambda v: tf.scatter_mul(v, [1, 3], 2 * ones(2, WIDTH)),
    "scatter_update": lambda v: tf.scatter_update(v, [1], 9 * ones(1, WIDTH)),
    "scatter_nd_add": lambda v: tf.scatter_nd_add(v, [[1, 2], [1, 2]], ones(2)),
    "a_slice": lambda v: v[1:2].assign(9 * ones(1, WIDTH)),
    "descent": applied(tf.train.GradientDescentOptimizer(0.5)),
    "momentum": applied(tf.train.MomentumOptimizer(0.5, 0.9)),
    "adam": applied(tf.train.AdamOptimizer(0.5)),
    "rows_descent": applied_to_rows(tf.train.GradientDescentOptimizer(0.5)),
    "rows_momentum": applied_to_rows(tf.train.MomentumOptimizer(0.5, 0.9)),
    "rows_adagrad": applied_to_rows(tf.train.AdagradOptimizer(0.5)),
    "rows_adam": applied_to_rows(tf.train.AdamOptimizer(0.5)),
}


@pytest.mark.parametrize(
    ("name", "resource"),
    [(name, False) for name in CHANGES if name != "a_slice"] + [(name, True) for name in CHANGES],
)
def test_what_was_read_before_stays(name, resource):
    v, other = made(resource, ones(4, WIDTH)), made(resource, 0 * ones(4, WIDTH), "other")
    queue = tf.FIFOQueue(9, tf.float32)
    read = tf.identity(v.read_value())
    add, change = v.assign_add(ones(4, WIDTH)).op, CHANGES[name](v)
    x = tf.placeholder(tf.float32, [])
    later = read * x
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fetch = session.make_callable(read)
        for _ in range(2):
            session.run(add)  # after that, the array is the variable's own
            kept = [session.run(v), fetch()]
            before = kept[0].copy()
            session.run([queue.enqueue(read), other.assign(read)])
            partly = session.partial_run_setup([read, later], [x])
            kept.append(session.partial_run(partly, read))
            session.run(change)
            assert not np.array_equal(session.run(v), before)
            kept += session.run([queue.dequeue(), other])
            kept.append(session.partial_run(partly, later, {x: 1.0}))
            for each in kept:
                np.testing.assert_array_equal(each, before)


@KINDS
@pytest.mark.parametrize("place", [alone, cluster, local_path])
def test_what_another_task_has_received_stays(place, resource):
    with place() as place:
        with tf.device(place.there):
            v = made(resource, np.zeros(100_000, np.float32))
            read = v.read_value()
            add = v.assign_add(np.ones(100_000, np.float32)).op
        with tf.device(place.here):
            received, x = tf.identity(read), tf.placeholder(tf.float32, [])
            first, later = received[0], received + x
        with tf.Session(place.target) as session:
            session.run([v.initializer])
            session.run(add)
            partly = session.partial_run_setup([first, later], [x])
            assert session.partial_run(partly, first) == 1
            session.run(add)
            assert np.array_equal(session.partial_run(partly, later, {x: 1.0}), np.full(100_000, 2))
            assert session.run(v)[0] == 2


@KINDS
def test_a_variable_changed_by_its_own_value(resource):
    v = made(resource, np.outer([1, 2, 4], np.ones(WIDTH)))
    read = v.read_value()
    add = v.assign_add(read).op
    scatter = tf.scatter_add(v, tf.cast(read[:, 0], tf.int32) % 3, read).op  # of 2, 4, 8: 2, 1, 2
    momentum = tf.train.MomentumOptimizer(1.0, 0.5).apply_gradients([(read, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for change, expected in [(add, [2, 4, 8]), (scatter, [2, 8, 18]), (momentum, [0, 0, 0])]:
            session.run(change)
            assert np.array_equal(session.run(v), np.outer(expected, np.ones(WIDTH)))


@KINDS
@pytest.mark.parametrize("name", ["assign_add", "scatter_add", "momentum"])
def test_nobody_sees_half_an_update(resource, name):
    v = made(resource, np.zeros((500, 400), np.float32))
    change = {
        "assign_add": lambda: v.assign_add(ones(500, 400)),
        "scatter_add": lambda: tf.scatter_add(v, np.arange(500), ones(500, 400)),
        "momentum": lambda: tf.train.MomentumOptimizer(1.0, 0.0).apply_gradients(
            [(tf.constant(-ones(500, 400)), v)]
        ),
    }[name]()
    change, read = change if isinstance(change, tf.Operation) else change.op, v.read_value()
    wrong = []

    def update():
        for _ in range(40):
            session.run(change)

    def look():
        last = 0.0
        for _ in range(80):
            found = session.run(read)
            if not (found == found[0, 0]).all() or found[0, 0] < last:
                wrong.append(found)
            last = found[0, 0]

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [threading.Thread(target=each) for each in (update, look, update, look)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert session.run(v)[0, 0] == 80


@KINDS
@pytest.mark.parametrize("name", ["scatter_add", "rows_descent", "rows_momentum", "rows_adagrad"])
def test_a_change_of_some_rows_takes_memory_for_these_rows(resource, name):
    table = tf.get_variable("v", [5000, WIDTH], use_resource=resource)  # 8 MB
    change = CHANGES[name](table)
    change = change if isinstance(change, tf.Operation) else change.op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(change)
        tracemalloc.start()
        try:
            session.run(change)
            assert tracemalloc.get_traced_memory()[1] < 100_000
        finally:
            tracemalloc.stop()


@KINDS
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda v, i, x: tf.scatter_add(v, i, x), id="a sum of rows"),
        pytest.param(lambda v, i, x: tf.scatter_nd_add(v, i[:, None], x), id="a sum of parts"),
        pytest.param(
            lambda v, i, x: tf.train.MomentumOptimizer(1.0, 0.9).apply_gradients(
                [(tf.IndexedSlices(x, i), v)]
            ),
            id="a step of rows",
        ),
        pytest.param(
            lambda v, i, x: tf.train.MomentumOptimizer(1.0, 0.9).apply_gradients([(x, v)]),
            id="a step of all",
        ),
        pytest.param(lambda v, i, x: v.assign_add(x), id="a sum"),
    ],
)
def test_an_error_leaves_everything_as_it_was(resource, change):
    v = made(resource, ones(4, WIDTH))
    i, x = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, None)
    changed = change(v, i, x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(v.assign_add(ones(4, WIDTH)).op)
        before = session.run(tf.global_variables())
        for rows, values in [
            ([0, 4], ones(2, WIDTH)),
            ([0, -1], ones(2, WIDTH)),
            ([0, 1], ones(2, 5)),
        ]:
            with pytest.raises((tf.errors.OpError, ValueError)):
                session.run(changed, {i: rows, x: values})
            for old, new in zip(before, session.run(tf.global_variables()), strict=True):
                np.testing.assert_array_equal(old, new)

"""Who takes a variable's read finds the changes that it waits for, as on TensorFlow."""

import pytest

import tfdist as tf


def alone(v):
    """All that take the read wait for the change."""
    with tf.control_dependencies([tf.assign(v, 50.0)]):
        return [v * 10.0]


def beside_one_that_does_not_wait(v):
    before = v * 1.0
    with tf.control_dependencies([before]), tf.control_dependencies([tf.assign(v, 50.0)]):
        return [before, v * 10.0]


def one_change_after_the_other(v):
    with tf.control_dependencies([tf.assign(v, 50.0)]):
        first = v * 10.0
    with tf.control_dependencies([first]), tf.control_dependencies([tf.assign_add(v, 1.0)]):
        return [first, v * 1.0]


def fetched_too(v):
    """What leaves the step is the read itself, which waits for nothing."""
    with tf.control_dependencies([tf.assign(v, 50.0)]):
        return [v * 10.0, tf.identity(v) * 0.0]


def maybe_not_changed(v):
    """A change in a branch may be left out; who takes the value outside waits for neither."""
    changed = tf.cond(v < 0.0, lambda: tf.assign(v, 50.0) * 1.0, lambda: tf.constant(0.0))
    with tf.control_dependencies([changed]):
        return [v * 10.0]


CASES = [
    (alone, [500.0]),
    (beside_one_that_does_not_wait, [9.0, 500.0]),
    (one_change_after_the_other, [500.0, 51.0]),
    (fetched_too, [500.0, 0.0]),
    (maybe_not_changed, [90.0]),
]


@pytest.mark.parametrize("executor", ["interpreter", "compiler"])
@pytest.mark.parametrize(("program", "wanted"), CASES, ids=[case[0].__name__ for case in CASES])
def test_takers_find_what_they_wait_for(program, wanted, executor, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    with tf.Graph().as_default():
        v = tf.Variable(9.0)
        found = program(v)
        with tf.Session() as session:
            session.run(v.initializer)
            assert session.run(found) == wanted


def test_a_new_read_is_where_the_old_one_is():
    with tf.train.Server({"a": ["localhost:0"]}) as server, tf.Graph().as_default():
        v = tf.Variable(9.0)
        found = beside_one_that_does_not_wait(v)
        with tf.Session(server.target) as session:
            session.run(v.initializer)
            assert session.run(found) == [9.0, 500.0]


def rounds(body, count=4):
    """Return how many rounds a loop ran, each of which waits for what `body` returns."""

    def after(i):
        with tf.control_dependencies([body()]):
            return i + 1

    return tf.while_loop(lambda i: i < count, after, [0], parallel_iterations=1)


def shrinking(v):
    return rounds(lambda: tf.assign_sub(v, 0.5 * v))


def descending(v):
    """An optimizer in a loop: its gradients are those of the round."""
    descent = tf.train.GradientDescentOptimizer(0.25)
    return rounds(lambda: descent.minimize(tf.square(v - 1.0), var_list=[v]))


def in_an_inner_loop(v):
    return rounds(lambda: rounds(lambda: tf.assign_sub(v, 0.5 * v), 2), 2)


def in_a_branch(v):
    return rounds(lambda: tf.cond(v > 3.0, lambda: tf.assign(v, v - 2.0), lambda: v * 1.0))


def of_two_variables(v):
    w = tf.Variable(1.0, name="w")
    return rounds(lambda: tf.group(tf.assign(v, v + 0.5), tf.assign(w, v * w)))


LOOPS = [
    (shrinking, 9.0 / 2**4),
    (descending, 1.0 + 8.0 / 2**4),
    (in_an_inner_loop, 9.0 / 2**4),
    (in_a_branch, 3.0),
    (of_two_variables, 11.0),
]


@pytest.mark.parametrize("executor", ["interpreter", "compiler"])
@pytest.mark.parametrize(("program", "wanted"), LOOPS, ids=[case[0].__name__ for case in LOOPS])
def test_a_round_finds_what_those_before_it_made(program, wanted, executor, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    with tf.Graph().as_default():
        v = tf.Variable(9.0)
        loop = program(v)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(loop)
            assert session.run(v) == wanted

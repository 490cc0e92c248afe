"""Programs that every side runs: TensorFlow 1.15.5, TensorFlow 2.21 and tfdist.

A program is a function of `at`, a `Place`: the API to build with, and the tasks of a cluster. What
it returns is compared with what TensorFlow 1.15.5 gives on servers of its own. This file runs on
real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of ours.
"""

import os
import signal
import tempfile
import threading
import time

import numpy as np

PROGRAMS = {}
DEVICES = (("worker", 0), ("worker", 1), ("ps", 0))
PATIENCE = 8000  # milliseconds that a step of any program may take


def program(function):
    """Note a program, under its name."""
    PROGRAMS[function.__name__] = function
    return function


class Place:
    """Where a program runs.

    Attributes:
      tf: the API that it builds its graph with.
      defun: its decorator of functions with types.
      target: of its sessions.
      near: the device of the session's own task.
      far: the device of another task.
      ps: the device of the parameter server.
      servers: process id by task, such as "worker:1".
      spec: the cluster's addresses by job.
    """

    def __init__(self, tf, defun, target, servers, spec):
        self.tf, self.defun, self.target = tf, defun, target
        self.servers, self.spec = servers, spec
        near, far, ps = ("/job:{}/task:{}/device:CPU:0".format(*each) for each in DEVICES)
        self.near, self.far, self.ps = (near, far, ps) if "ps" in spec else (near, near, near)
        self.sessions = []

    def config(self, **fields):
        """Return a ConfigProto that bounds every step."""
        fields.setdefault("operation_timeout_in_ms", PATIENCE)
        return self.tf.ConfigProto(**fields)

    def session(self, graph=None, **fields):
        """Return a session; it is closed when the program has ended."""
        made = self.tf.Session(self.target, graph=graph, config=self.config(**fields))
        self.sessions.append(made)
        return made

    def run(self, fetches, feeds=None, first=None):
        """Run `first`, then return what `fetches` are, in a session of its own."""
        session = self.session()
        if first is not None:
            session.run(first)
        return session.run(fetches, feeds)

    def close(self):
        """Close the sessions that the program left open."""
        for each in self.sessions:
            try:
                each.close()
            except self.tf.errors.OpError:
                pass  # its server has forgotten it


def told(action, phrase="", node=None):
    """Return how `action` fails: class, node, and whether the message has `phrase`, in any case."""
    try:
        action()
    except Exception as error:
        name = getattr(getattr(error, "op", None), "name", None)
        message = str(error)
        has_it = phrase.lower() in message.lower() or message
        return [type(error).__name__, (name or "none") if node else "", has_it]
    return "no error"


# values: in by a feed, to another task, and out by a fetch


def fed(at, dtype, *values):
    """Return values that went through another task, as placeholder and as constant."""
    found = []
    for value in values:
        value = np.array(value, dtype.as_numpy_dtype)
        with at.tf.Graph().as_default():
            there = at.tf.placeholder(dtype, value.shape)
            with at.tf.device(at.far):
                back = at.tf.identity(there)
                constant = at.tf.constant(value, dtype)
            with at.tf.device(at.near):
                both = [back, at.tf.identity(constant), at.tf.identity(back), constant]
            found.append(at.run(both, {there: value}))
    return found


SHAPES = (3, [1, 2, 3], [[1], [2]], [], [[], []])


@program
def feeds_of_floats(at):
    return [fed(at, dtype, 1.5, [0.0, -2.25], *SHAPES) for dtype in (at.tf.float32, at.tf.float64)]


@program
def feeds_of_float16(at):
    return fed(at, at.tf.float16, 1.5, [0.0, -2.25], *SHAPES)


@program
def feeds_of_bfloat16(at):
    return fed(at, at.tf.bfloat16, 1.5, [0.0, -2.25], *SHAPES)


@program
def feeds_of_integers(at):
    names = "int8 int16 int32 int64 uint8 uint16"
    return [fed(at, getattr(at.tf, name), *SHAPES) for name in names.split()]


@program
def feeds_of_large_unsigned_integers(at):
    return [fed(at, dtype, 2**31 + 5, *SHAPES) for dtype in (at.tf.uint32, at.tf.uint64)]


@program
def feeds_of_bools(at):
    return fed(at, at.tf.bool, True, [True, False], [])


@program
def feeds_of_complex_numbers(at):
    return [fed(at, t, 1 + 2j, [1j, 0], []) for t in (at.tf.complex64, at.tf.complex128)]


@program
def feeds_of_quantised_integers(at):
    return [fed(at, getattr(at.tf, name), 3, [1, 2]) for name in ("qint8", "quint8", "qint32")]


@program
def feeds_of_strings(at):
    long = b"x" * 300
    return fed(at, at.tf.string, b"", b"one", [b"a", b"", "ü".encode(), b"\0\xff", long], [])


@program
def a_large_feed_comes_back(at):
    value = np.arange(3000000, dtype=np.float32)
    there = at.tf.placeholder(at.tf.float32, [None])
    with at.tf.device(at.far):
        doubled = there * 2.0
    return bool((at.run(doubled, {there: value}) == value * 2).all())


@program
def a_large_constant(at):
    with at.tf.device(at.far):
        constant = at.tf.constant(np.arange(1000000, dtype=np.float32))
        total = at.tf.reduce_max(constant)
    return [at.run(total), at.run(constant).shape]


@program
def a_fed_node_is_not_run(at):
    with at.tf.device(at.far):
        x = at.tf.constant([1.0, 2.0])
        y = x * 2.0
        z = y + 1.0
    return at.run([z, x], {y: [5.0, 6.0]})


@program
def tensors_of_one_name_and_several_outputs(at):
    with at.tf.device(at.far):
        parts = at.tf.split(at.tf.constant([1, 2, 3, 4]), 2)
    with at.tf.device(at.near):
        added = parts[0] * 10 + parts[1]
    return at.run([added, parts[1], {"parts": parts}, [added, added]])


# variables


def counter(at, **more):
    """Return a variable on the parameter server."""
    with at.tf.device(at.ps):
        return at.tf.Variable(1.0, name="counter", **more)


def counted(at, **more):
    """Return what a variable went through that two tasks change."""
    v = counter(at, **more)
    with at.tf.device(at.far):
        added = at.tf.assign_add(v, 2.0)
        doubled = v * 2.0
    with at.tf.device(at.near):
        assigned = at.tf.assign(v, 10.0)
    session = at.session()
    session.run(v.initializer)
    found = [session.run(each) for each in (v, added, doubled, assigned, doubled)]
    session.run(added.op)
    return [*found, session.run([v, doubled])]


@program
def reference_variables(at):
    return counted(at, use_resource=False)


@program
def resource_variables(at):
    return counted(at, use_resource=True)


@program
def resource_variables_are_trained(at):
    with at.tf.device(at.ps):
        w = at.tf.Variable([[1.0], [-2.0]], use_resource=True)
        steps = at.tf.Variable(0, trainable=False, use_resource=True)
    losses = []
    for device, rows in ((at.near, [[1.0, 2.0]]), (at.far, [[-1.0, 0.5], [3.0, 1.0]])):
        with at.tf.device(device):
            losses.append(at.tf.reduce_mean(at.tf.square(at.tf.matmul(rows, w) - 1.0)))
    optimizer = at.tf.train.GradientDescentOptimizer(0.125)
    train = optimizer.minimize(at.tf.add_n(losses), global_step=steps)
    session = at.session()
    session.run(at.tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
    return session.run([w, steps])


@program
def rows_of_resource_variables(at):
    with at.tf.device(at.ps):
        table = at.tf.Variable(np.zeros([4, 2], np.float32), use_resource=True)
        added = at.tf.scatter_add(table, [1, 3, 1], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        updated = at.tf.scatter_update(table, [0], [[7.0, 8.0]])
        placed = at.tf.scatter_nd_update(table, [[2, 1]], [9.0])
    with at.tf.device(at.far):
        rows = at.tf.gather(table, [3, 0, 1])
        gradient = at.tf.gradients(at.tf.reduce_sum(rows * rows), table)[0]
        train = at.tf.train.GradientDescentOptimizer(0.5).apply_gradients([(gradient, table)])
    session = at.session()
    session.run(table.initializer)
    found = [session.run(each) for each in (added, updated, placed, rows)]
    session.run(train)
    return [*found, session.run(table)]


@program
def resource_variables_in_branches_and_loops(at):
    v = counter(at, use_resource=True)
    x = at.tf.placeholder(at.tf.bool, [])
    with at.tf.device(at.far):
        either = at.tf.cond(x, lambda: v.assign_add(1.0), lambda: v * 10.0)

        def body(i, total):
            with at.tf.control_dependencies([total]):
                changed = v.assign_add(1.0, read_value=False)
            with at.tf.control_dependencies([changed]):
                return i + 1, total + v.read_value()

        rounds = at.tf.while_loop(lambda i, _: i < 3, body, (0, 0.0))
    session = at.session()
    session.run(v.initializer)
    found = [session.run(either, {x: True}), session.run(either, {x: False})]
    return [*found, session.run(rounds), session.run(v)]


@program
def a_function_takes_resource_variables(at):
    v = counter(at, use_resource=True)

    @at.defun(at.tf.float32)
    def scaled(x):
        return x * v

    with at.tf.device(at.ps):
        y = scaled(2.0)
    session = at.session()
    session.run(v.initializer)
    before = session.run(y)
    session.run(at.tf.assign(v, 5.0).op)
    return [before, session.run(y)]


@program
def an_uninitialised_resource_variable(at):
    v = counter(at, use_resource=True)
    session = at.session()
    read = told(lambda: session.run(v + 1.0), "uninitialized")
    known = [session.run(at.tf.is_variable_initialized(v))]
    session.run(v.initializer)
    return [read, *known, session.run(at.tf.is_variable_initialized(v))]


@program
def a_variable_is_initialised_or_not(at):
    v = counter(at)
    known = at.tf.is_variable_initialized(v)
    missing = at.tf.report_uninitialized_variables()
    session = at.session()
    before = session.run([known, missing])
    session.run(at.tf.global_variables_initializer())
    return [before, session.run([known, missing])]


@program
def variables_are_scattered_into(at):
    with at.tf.device(at.ps):
        table = at.tf.Variable(np.zeros([4, 2], np.float32))
        updated = at.tf.scatter_add(table, [1, 3, 1], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with at.tf.device(at.far):
        rows = at.tf.gather(table, [3, 0, 1])
    session = at.session()
    session.run(table.initializer)
    return [session.run(updated), session.run(rows)]


@program
def sessions_share_variables(at):
    v = counter(at)
    added = at.tf.assign_add(v, 1.0)
    one, two = at.session(), at.session()
    one.run(v.initializer)
    return [two.run(v), two.run(added), one.run(v)]


@program
def a_session_of_isolated_state(at):
    v = counter(at)
    one, two = at.session(isolate_session_state=True), at.session()
    one.run(v.initializer)
    error = told(lambda: two.run(v), "uninitialized")
    return [one.run(v), error]


@program
def containers_are_reset(at):
    with at.tf.container("kept"):
        kept = at.tf.Variable(1.0, name="kept")
    with at.tf.container("cleared"):
        cleared = at.tf.Variable(2.0, name="cleared")
    session = at.session()
    session.run(at.tf.global_variables_initializer())
    at.tf.Session.reset(at.target, ["cleared"])
    after = at.session()
    return [after.run(kept), told(lambda: after.run(cleared), "uninitialized")]


@program
def control_dependencies(at):
    v = counter(at)
    with at.tf.device(at.far):
        first = at.tf.assign(v, 5.0)
        with at.tf.control_dependencies([first]):
            second = at.tf.assign_add(v, 1.0)
    with at.tf.control_dependencies([second]), at.tf.device(at.near):
        last = at.tf.constant(7.0)
    session = at.session()
    return [session.run(last), session.run(v)]


@program
def gradient_descent_on_two_workers(at):
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]], np.float32)
    y = np.array([[1.0], [2.0], [3.0], [5.0]], np.float32)
    with at.tf.device(at.ps):
        w = at.tf.Variable([[0.5], [0.25]], name="w")
        b = at.tf.Variable([0.5], name="b")
    losses = []
    for device, part in ((at.near, slice(0, 2)), (at.far, slice(2, 4))):
        with at.tf.device(device):
            guess = at.tf.matmul(at.tf.constant(x[part]), w) + b
            losses.append(at.tf.reduce_mean(at.tf.square(guess - y[part])))
    step = at.tf.train.GradientDescentOptimizer(0.01).minimize(at.tf.add_n(losses))
    session = at.session()
    session.run(at.tf.global_variables_initializer())
    return [session.run([*losses, step])[:2] for _ in range(5)] + session.run([w, b])


# what a master's optimizer may rewrite


@program
def layers_that_can_be_fused(at):
    x = at.tf.placeholder(at.tf.float32, [None, 3])
    with at.tf.device(at.far):
        w = at.tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2) / 6 - 0.4)
        product = at.tf.matmul(x, w)
        biased = at.tf.nn.bias_add(product, at.tf.constant([0.5, -0.5]))
        results = [f(biased) for f in (at.tf.nn.relu, at.tf.nn.elu, at.tf.nn.relu6, at.tf.tanh)]
    session = at.session()
    feed = {x: [[1.0, -2.0, 3.0], [0.0, 1.0, -1.0]]}
    return [session.run(each, feed) for each in results] + [session.run(biased, feed)]


@program
def convolutions_that_can_be_fused(at):
    x = at.tf.placeholder(at.tf.float32, [1, 4, 4, 1])
    with at.tf.device(at.far):
        w = at.tf.constant(np.arange(8, dtype=np.float32).reshape(2, 2, 1, 2) / 8 - 0.4)
        convolved = at.tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
        results = [at.tf.nn.relu(at.tf.nn.bias_add(convolved, at.tf.constant([0.5, -0.5])))]
        results.append(at.tf.nn.max_pool(results[0], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))
    session = at.session()
    feed = {x: np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1) / 4 - 2}
    return [session.run(each, feed) for each in results]


@program
def arithmetic_that_can_be_simplified(at):
    x = at.tf.placeholder(at.tf.float32, [None, 2])
    with at.tf.device(at.far):
        shape = at.tf.shape(x)
        folded = at.tf.constant([1.0, 2.0]) * 3.0 + at.tf.constant(4.0)
        twice = at.tf.transpose(at.tf.transpose(x)) + at.tf.zeros([1, 2])
        square = at.tf.square(at.tf.cast(at.tf.cast(x, at.tf.float64), at.tf.float32))
        summed = at.tf.add_n([x * 2.0, x * 3.0, x * folded, square - square])
        reshaped = at.tf.reshape(at.tf.reshape(summed, [-1]), shape)
        less = at.tf.sqrt(at.tf.maximum(x, 1.0)) / at.tf.sqrt(at.tf.maximum(x, 1.0))
        shared = [at.tf.exp(-x), at.tf.exp(-x), x**2.0, x / 4.0, at.tf.negative(x) + 1.0]
        size = [at.tf.size(x), at.tf.rank(x), shape[0] * 2]
        ends = at.tf.concat([reshaped, twice, less], 1)
    return at.run([ends, shared, size, folded], {x: [[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]]})


@program
def elementwise_chains_that_can_be_fused(at):
    x = at.tf.placeholder(at.tf.float32, [3])
    with at.tf.device(at.far):
        y = at.tf.tanh(at.tf.exp(at.tf.sqrt(at.tf.abs(at.tf.negative(x)))))
        z = at.tf.nn.leaky_relu(at.tf.matmul([[1.0, -2.0, 3.0]], at.tf.reshape(x, [3, 1])) - 9.0)
    return at.run([y, z], {x: [1.0, -2.0, 0.25]})


@program
def a_sum_that_is_accumulated(at):
    x = at.tf.placeholder(at.tf.float32, [2])
    with at.tf.device(at.far):
        total = at.tf.accumulate_n([x, x * 2.0, at.tf.exp(x)], shape=[2])
    return at.run(total, {x: [1.0, 2.0]})


@program
def batches_of_matrices(at):
    x = at.tf.placeholder(at.tf.float32, [2, 2, 3])
    with at.tf.device(at.far):
        product = at.tf.matmul(x, x, transpose_b=True)
    return at.run(product, {x: np.arange(12, dtype=np.float32).reshape(2, 2, 3)})


@program
def a_constant_crosses_to_both_tasks(at):
    with at.tf.device(at.ps):
        scale = at.tf.constant(3.0) * 2.0
    with at.tf.device(at.near):
        near = scale + at.tf.zeros([2])
    with at.tf.device(at.far):
        far = scale * at.tf.ones([2]) + near
    return at.run([near, far])


@program
def softmax_and_its_gradient(at):
    x = at.tf.placeholder(at.tf.float32, [2, 3])
    with at.tf.device(at.far):
        loss = at.tf.nn.softmax_cross_entropy_with_logits(
            labels=[[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], logits=x
        )
        gradient = at.tf.gradients(loss, x)[0]
    return at.run([loss, gradient, at.tf.nn.softmax(x)], {x: [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]})


# queues


@program
def a_fifo_queue(at):
    with at.tf.device(at.ps):
        queue = at.tf.FIFOQueue(4, [at.tf.float32, at.tf.string], [[], [2]], shared_name="fifo")
    with at.tf.device(at.near):
        add = queue.enqueue_many([[1.0, 2.0, 3.0], [[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]]])
    with at.tf.device(at.far):
        take, two, size = queue.dequeue(), queue.dequeue_many(2), queue.size()
    session = at.session()
    session.run(add)
    return [session.run(each) for each in (size, take, two, size)]


@program
def a_shuffling_queue(at):
    with at.tf.device(at.ps):
        queue = at.tf.RandomShuffleQueue(10, 0, [at.tf.int32], [[]])
        add = queue.enqueue_many([list(range(10))])
    with at.tf.device(at.far):
        take = queue.dequeue_many(10)
    session = at.session()
    session.run(add)
    return sorted(session.run(take).tolist())


@program
def a_padding_queue(at):
    with at.tf.device(at.ps):
        queue = at.tf.PaddingFIFOQueue(4, [at.tf.int32], [[None]])
    value = at.tf.placeholder(at.tf.int32, [None])
    add, take = queue.enqueue(value), queue.dequeue_many(2)
    session = at.session()
    for each in ([1], [2, 3, 4]):
        session.run(add, {value: each})
    return session.run(take)


@program
def a_priority_queue(at):
    with at.tf.device(at.ps):
        queue = at.tf.PriorityQueue(4, [at.tf.string], [[]])
        add = queue.enqueue_many([np.array([3, 1, 2], np.int64), [b"c", b"a", b"b"]])
        take = queue.dequeue_many(3)
    session = at.session()
    session.run(add)
    return session.run(take)


@program
def a_closed_queue(at):
    with at.tf.device(at.ps):
        queue = at.tf.FIFOQueue(4, [at.tf.float32], [[]])
        add, take = queue.enqueue([1.0], name="add"), queue.dequeue(name="take")
    session = at.session()
    session.run(add)
    session.run(queue.close())
    return [
        session.run(take),
        told(lambda: session.run(take), "is closed and has insufficient elements", node=True),
        told(lambda: session.run(add), "is closed", node=True),
    ]


@program
def an_empty_queue_and_a_deadline(at):
    with at.tf.device(at.ps):
        queue = at.tf.FIFOQueue(4, [at.tf.float32], [[]])
    with at.tf.device(at.far):
        take = queue.dequeue() + 1.0
    session = at.session()
    options = at.tf.RunOptions(timeout_in_ms=300)
    error = told(lambda: session.run(take, options=options))
    # A TensorFlow master ends the step at its tasks after it has told the client: the dequeue that
    # still waits there may take one element more.
    session.run(queue.enqueue_many([[4.0, 4.0]]))
    return [error, session.run(take)]


@program
def a_dequeue_waits_for_another_session(at):
    with at.tf.device(at.far):
        queue = at.tf.FIFOQueue(4, [at.tf.float32], [[]], shared_name="waited")
        add, take = queue.enqueue([4.0]), queue.dequeue()
    one, two = at.session(), at.session()
    later = threading.Timer(0.2, lambda: two.run(add))
    later.start()
    taken = one.run(take)
    later.join()
    return taken


@program
def an_accumulator_and_a_barrier_of_tokens(at):
    with at.tf.device(at.ps):
        mean = at.tf.ConditionalAccumulator(at.tf.float32, [2], shared_name="mean")
        tokens = at.tf.FIFOQueue(4, [at.tf.int64], [[]], shared_name="tokens")
        taken = mean.take_grad(2)
    with at.tf.device(at.near):
        one = mean.apply_grad([1.0, 2.0])
    with at.tf.device(at.far):
        two = mean.apply_grad([3.0, 6.0])
    with at.tf.control_dependencies([one, two]):
        done = tokens.enqueue([np.int64(1)])
    session = at.session()
    session.run(done)
    return [session.run(tokens.dequeue()), session.run(taken)]


# branches, loops, functions


def branch(at):
    """Return what a cond gives, with its branches on two tasks."""
    x = at.tf.placeholder(at.tf.float32, [])

    def there():
        with at.tf.device(at.far):
            return x * 10.0

    def here():
        with at.tf.device(at.near):
            return x - 1.0

    result = at.tf.cond(x > 2.0, there, here)
    gradient = at.tf.gradients(result, x)[0]
    session = at.session()
    return [session.run([result, gradient], {x: value}) for value in (1.0, 3.0, 2.0)]


def loop(at):
    """Return what a while_loop gives whose body is on another task, and its gradient."""
    x = at.tf.placeholder(at.tf.float32, [])

    def body(i, total):
        with at.tf.device(at.far):
            return i + 1, total * x + 1.0

    start = (at.tf.constant(0), at.tf.constant(1.0))
    count, result = at.tf.while_loop(lambda i, _: i < 5, body, start)
    gradient = at.tf.gradients(result, x)[0]
    session = at.session()
    return [session.run([count, result, gradient], {x: value}) for value in (0.5, 2.0)]


@program
def a_cond_across_tasks(at):
    return branch(at)


@program
def a_while_loop_across_tasks(at):
    return loop(at)


@program
def a_while_loop_on_one_task(at):
    x = at.tf.placeholder(at.tf.float32, [2])
    with at.tf.device(at.far):
        _, result = at.tf.while_loop(
            lambda i, _: i < 10, lambda i, y: (i + 1, at.tf.cond(i > 4, lambda: y + x, lambda: y)),
            (0, x),
        )  # fmt: skip
    return at.run([result, at.tf.gradients(result, x)], {x: [1.0, 2.0]})


@program
def nested_loops_across_tasks(at):
    n = at.tf.placeholder(at.tf.int32, [])

    def outer(i, total):
        def inner(j, inside):
            with at.tf.device(at.far):
                return j + 1, inside + i * j

        return i + 1, at.tf.while_loop(lambda j, _: j < i, inner, (0, total))[1]

    result = at.tf.while_loop(lambda i, _: i < n, outer, (0, 0))[1]
    session = at.session()
    return [session.run(result, {n: value}) for value in (0, 1, 5)]


class functional_flow:
    """Makes cond and while_loop build If and While while the block runs."""

    def __init__(self, tf):
        self.tf = tf

    def __enter__(self):
        self.tf.enable_control_flow_v2()

    def __exit__(self, *_):
        self.tf.disable_control_flow_v2()


@program
def a_functional_cond(at):
    with functional_flow(at.tf):
        return branch(at)


@program
def a_functional_while_loop(at):
    with functional_flow(at.tf):
        return loop(at)


@program
def a_function(at):
    @at.tf.function
    def affine(x, y):
        return x * y + 1.0, at.tf.reduce_sum(x)

    x = at.tf.placeholder(at.tf.float32, [2])
    with at.tf.device(at.far):
        there = affine(x, at.tf.constant(3.0))
    with at.tf.device(at.near):
        here = affine(there[0], there[1])
    return at.run([there, here, at.tf.gradients(here[0], x)], {x: [1.0, 2.0]})


@program
def a_function_with_branches_and_loops(at):
    @at.tf.function(autograph=False)
    def collatz(n):
        def body(n, count):
            even = at.tf.equal(n % 2, 0)
            return at.tf.cond(even, lambda: n // 2, lambda: 3 * n + 1), count + 1

        return at.tf.while_loop(lambda n, _: at.tf.not_equal(n, 1), body, (n, 0))[1]

    n = at.tf.placeholder(at.tf.int32, [])
    with at.tf.device(at.far):
        steps = collatz(n)
    return at.run(steps, {n: 6})


@program
def a_defun(at):
    @at.defun(at.tf.float32, at.tf.float32)
    def multiplied(x, y):
        return x * y + x

    x = at.tf.placeholder(at.tf.float32, [2])
    with at.tf.device(at.far):
        result = multiplied(x, at.tf.constant([3.0, 4.0]))
    return at.run([result, at.tf.gradients(result, x)], {x: [1.0, 2.0]})


@program
def map_fn_and_scan(at):
    x = at.tf.placeholder(at.tf.float32, [3])
    with at.tf.device(at.far):
        mapped = at.tf.map_fn(lambda each: each * each + 1.0, x)
        scanned = at.tf.scan(lambda total, each: total * 2.0 + each, x)
    return at.run([mapped, scanned, at.tf.gradients(mapped, x)], {x: [1.0, 2.0, 3.0]})


@program
def a_tensor_array(at):
    with at.tf.device(at.far):
        array = at.tf.TensorArray(at.tf.float32, 3, clear_after_read=False, element_shape=[])
        for i, value in enumerate((1.0, 2.0, 4.0)):
            array = array.write(i, value)
        stacked, read = array.stack(), array.read(1)
    with at.tf.device(at.near):
        result = stacked * 2.0 + read
    return at.run(result)


@program
def a_py_func_in_the_client(at):
    with at.tf.device(at.near):
        found = at.tf.py_func(lambda x: x * 2.0, [at.tf.constant(3.0)], at.tf.float32, name="call")
    return told(lambda: at.run(found), node=True)[:2]


# what a session can do


@program
def devices_are_listed(at):
    found = at.session().list_devices()
    return sorted(each.name for each in found if each.device_type == "CPU")


@program
def a_graph_is_extended(at):
    session = at.session()
    found = []
    for value in (1.0, 2.0, 3.0):
        with at.tf.device(at.far if value > 1 else at.near):
            found.append(session.run(at.tf.constant(value) * 2.0))
    return found


@program
def a_callable(at):
    x, y = at.tf.placeholder(at.tf.float32, []), at.tf.placeholder(at.tf.float32, [2])
    with at.tf.device(at.far):
        z = x * y
    call = at.session().make_callable([z, x + 1.0], [x, y])
    return [call(2.0, [1.0, 2.0]), call(3.0, [1.0, 2.0])]


@program
def a_callable_of_the_protocol(at):
    """TensorFlow's sessions ask for MakeCallable and RunCallable if they are given options only."""
    x, y = at.tf.placeholder(at.tf.float32, []), at.tf.placeholder(at.tf.float32, [None])
    with at.tf.device(at.far):
        v = at.tf.Variable(0.0)
        products, plus = x * y, x + 1.0
    session = at.session()
    session.run(v.initializer)
    more, given = v.assign_add(1.0).op, np.arange(100000, dtype=np.float32)
    if hasattr(session, "_make_callable_from_options"):
        from tensorflow.core.protobuf import config_pb2

        options = config_pb2.CallableOptions(
            feed=[x.name, y.name], fetch=[products.name, plus.name], target=[more.name]
        )
        call = session._make_callable_from_options(options)
    else:
        both = session.make_callable([products, plus, more], [x, y])
        call = lambda *values: both(*values)[:2]  # noqa: E731
    found = [call(np.float32(factor), given) for factor in (2.0, 3.0)]
    return [[(large[-1], large.shape, small) for large, small in found], session.run(v)]


@program
def a_value_that_is_checked_is_assigned(at):
    """TensorFlow's later clients ask for a check of its shape, which the earlier ones do not."""
    with at.tf.device(at.far):
        v = at.tf.get_variable("checked", initializer=[1.0, 2.0], use_resource=True)
        assigned = v.assign(at.tf.placeholder_with_default([3.0, 4.0], [None]), read_value=False)
    session = at.session()
    session.run(v.initializer)
    session.run(assigned)
    return session.run(v)


@program
def a_partial_run(at):
    x, y = at.tf.placeholder(at.tf.float32, []), at.tf.placeholder(at.tf.float32, [])
    first = x + 1.0
    with at.tf.device(at.far):
        second = first * y
    session = at.session()
    handle = session.partial_run_setup([first, second], [x, y])
    found = session.partial_run(handle, first, {x: 2.0})
    return [found, session.partial_run(handle, second, {y: found * 10.0})]


@program
def a_traced_step(at):
    with at.tf.device(at.ps):
        a = at.tf.Variable(2.0, name="a")
    with at.tf.device(at.far):
        b = at.tf.multiply(a, 3.0, name="b")
    with at.tf.device(at.near):
        c = at.tf.add(b, 1.0, name="c")
    session = at.session()
    session.run(a.initializer)
    session.run(c)
    metadata = at.tf.RunMetadata()
    options = at.tf.RunOptions(trace_level=at.tf.RunOptions.FULL_TRACE)
    value = session.run(c, options=options, run_metadata=metadata)
    ran = {}
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            assert 0 < node.all_start_micros < 1e16, node
            assert node.all_end_rel_micros >= 0, node
            ran.setdefault(node.node_name, device.device)
    return [value, [ran.get(name, "nowhere") for name in "abc"]]


@program
def partition_graphs(at):
    with at.tf.device(at.ps):
        a = at.tf.Variable(2.0, name="a")
    with at.tf.device(at.far):
        b = at.tf.multiply(a, at.tf.random_uniform([]), name="b")
    session = at.session()
    session.run(a.initializer)
    metadata = at.tf.RunMetadata()
    options = at.tf.RunOptions(output_partition_graphs=True)
    session.run(b, options=options, run_metadata=metadata)
    return sorted(
        [node.name, node.device]
        for graph in metadata.partition_graphs
        for node in graph.node
        if node.name in ("a", "b")
    )


@program
def a_step_ends_when_its_session_is_closed(at):
    with at.tf.device(at.far):
        take = at.tf.FIFOQueue(4, [at.tf.float32], [[]]).dequeue(name="take")
    session = at.session()
    later = threading.Timer(0.3, session.close)
    later.start()
    error = told(lambda: session.run(take))
    later.join()
    return error


@program
def a_closed_session(at):
    x = at.tf.constant(1.0)
    session = at.session()
    session.run(x)
    session.close()
    return told(lambda: session.run(x), "closed")


@program
def a_monitored_training_session(at):
    with at.tf.device(at.ps):
        step = at.tf.train.get_or_create_global_step()
        total = at.tf.get_variable("total", initializer=0.0)
    with at.tf.device(at.far):
        change = at.tf.assign_add(total, 2.0)
    with at.tf.control_dependencies([change]):
        train = at.tf.assign_add(step, 1)
    hooks = [at.tf.train.StopAtStepHook(last_step=3)]
    found = []
    with at.tf.train.MonitoredTrainingSession(
        at.target, is_chief=True, hooks=hooks, config=at.config()
    ) as session:
        while not session.should_stop():
            found.append(session.run([train, change]))
    return found


@program
def a_checkpoint(at):
    with at.tf.device(at.ps):
        v = at.tf.Variable([1.0, 2.0], name="saved")
    with at.tf.device(at.near):
        saver = at.tf.train.Saver([v])
    session = at.session()
    session.run(v.initializer)
    with tempfile.TemporaryDirectory() as folder:
        path = saver.save(session, os.path.join(folder, "model"), write_meta_graph=False)
        session.run(at.tf.assign(v, [0.0, 0.0]))
        saver.restore(session, path)
    return session.run(v)


@program
def the_client_tells_the_cluster(at):
    """Propagation of the ClusterSpec: the session names a job that the server was not told of."""
    addresses = [address for job in ("worker", "ps") for address in at.spec[job]]
    cluster = at.tf.train.ClusterSpec({"other": dict(enumerate(addresses))})
    with at.tf.device("/job:other/task:1"):
        x = at.tf.constant(2.0) * 3.0
    config = at.config(cluster_def=cluster.as_cluster_def())
    with at.tf.Session(at.target, config=config) as session:
        cpus = [each.name for each in session.list_devices() if each.device_type == "CPU"]
        return [session.run(x), sorted(cpus)]


@program
def devices_are_filtered(at):
    session = at.session(device_filters=["/job:worker/task:0", "/job:ps"])
    found = sorted(each.name for each in session.list_devices() if each.device_type == "CPU")
    with at.tf.device(at.far):
        x = at.tf.constant(1.0)
    return [found, told(lambda: session.run(x))[0]]


# input


@program
def a_dataset_on_another_task(at):
    with at.tf.device(at.far):
        data = (
            at.tf.data.Dataset.range(10)
            .map(lambda x: x * x)
            .filter(lambda x: at.tf.equal(x % 2, 0))
        )
        iterator = at.tf.data.make_initializable_iterator(data.batch(2))
        following = iterator.get_next()
    session = at.session()
    session.run(iterator.initializer)
    found = [session.run(following) for _ in range(3)]
    return [found, told(lambda: session.run(following), "End of sequence", node=True)]


@program
def a_dataset_of_every_stage(at):
    with at.tf.device(at.far):
        data = at.tf.data.Dataset.from_tensor_slices(
            {"x": [1.0, 2.0, 3.0], "y": [b"a", b"b", b"c"]}
        )
        data = data.repeat(2).skip(1).take(4).prefetch(1)
        ranges = at.tf.data.Dataset.range(3).flat_map(at.tf.data.Dataset.range)
        both = at.tf.data.Dataset.zip((data, ranges.repeat()))
        both = both.shuffle(1).padded_batch(3, at.tf.data.get_output_shapes(both))
        following = at.tf.data.make_one_shot_iterator(both).get_next()
    session = at.session()
    return [session.run(following), session.run(following)]


@program
def an_iterator_by_its_handle(at):
    with at.tf.device(at.far):
        data = at.tf.data.Dataset.range(3)
        one = at.tf.data.make_one_shot_iterator(data)
        handle = at.tf.placeholder(at.tf.string, [])
        chosen = at.tf.data.Iterator.from_string_handle(handle, at.tf.int64, [])
        following = chosen.get_next()
        own = one.string_handle()
    session = at.session()
    text = session.run(own)
    return [session.run(following, {handle: text}) for _ in range(3)]


@program
def lines_of_a_file(at):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lines.txt")
        with open(path, "w") as file:
            file.write("1,2\n3,4\n")
        with at.tf.device(at.far):
            queue = at.tf.FIFOQueue(2, [at.tf.string], [[]])
            reader = at.tf.TextLineReader()
            key, line = reader.read(queue)
            columns = at.tf.decode_csv(line, [[0], [0]])
        session = at.session()
        session.run([queue.enqueue([path])])
        session.run(queue.close())
        found = [session.run([key, columns]) for _ in range(2)]
        end = told(lambda: session.run(line), "closed and has insufficient elements")
    return [[[key[len(folder) :], columns] for key, columns in found], end]


# errors


@program
def a_division_by_zero(at):
    with at.tf.device(at.far):
        x = at.tf.placeholder(at.tf.int32, [])
        y = at.tf.floordiv(7, x, name="quotient")
    session = at.session()
    return [told(lambda: session.run(y, {x: 0}), "by zero", node=True), session.run(y, {x: 2})]


@program
def shapes_that_do_not_fit(at):
    with at.tf.device(at.far):
        x, y = (at.tf.placeholder(at.tf.float32, name=name) for name in "xy")
        added, product = at.tf.add(x, y, name="sum"), at.tf.matmul(x, y, name="product")
    session = at.session()
    return [
        told(lambda: session.run(added, {x: [1.0, 2.0], y: [1.0] * 3}), "[2] vs. [3]", node=True),
        told(lambda: session.run(product, {x: [[1.0]], y: [[1.0], [2.0]]}), "[1,1]", node=True),
    ]


@program
def a_placeholder_is_not_fed(at):
    x = at.tf.placeholder(at.tf.float32, [], name="x")
    with at.tf.device(at.far):
        y = x + 1.0
    session = at.session()
    return told(lambda: session.run(y), "must feed a value for placeholder", node=True)


@program
def a_variable_is_read_before_it_is_initialised(at):
    v = counter(at)
    with at.tf.device(at.far):
        doubled = v * 2.0
    session = at.session()
    return told(lambda: session.run(doubled), "uninitialized value counter")


@program
def a_device_that_is_not_there(at):
    with at.tf.device("/job:nobody/task:3"):
        x = at.tf.constant(1.0, name="lost")
    return told(lambda: at.session().run(x), "/job:nobody")


@program
def an_assertion_fails(at):
    x = at.tf.placeholder(at.tf.float32, [])
    with at.tf.device(at.far):
        check = at.tf.Assert(x > 0.0, [b"x is", x], name="check")
    return told(lambda: at.session().run(check, {x: -1.0}), "assertion failed: [x is] [-1]")


@program
def an_index_is_out_of_range(at):
    with at.tf.device(at.far):
        rows = at.tf.gather([1.0, 2.0], at.tf.placeholder_with_default([7], [1]), name="rows")
    return told(lambda: at.session().run(rows), "7 is not in [0, 2)", node=True)


@program
def the_operations_of_a_session_have_a_deadline(at):
    with at.tf.device(at.far):
        take = at.tf.FIFOQueue(4, [at.tf.float32], [[]]).dequeue()
    session = at.session(operation_timeout_in_ms=400)
    started = time.time()
    error = told(lambda: session.run(take))
    return [error, time.time() - started < 4.0]


@program
def an_error_ends_what_waits_elsewhere(at):
    with at.tf.device(at.ps):
        take = at.tf.FIFOQueue(4, [at.tf.float32], [[]]).dequeue()
    with at.tf.device(at.far):
        wrong = at.tf.floordiv(1, at.tf.placeholder_with_default(0, []), name="wrong")
    with at.tf.device(at.near):
        both = take + at.tf.cast(wrong, at.tf.float32)
    started = time.time()
    error = told(lambda: at.session().run(both), "by zero", node=True)
    return [error, time.time() - started < 4.0]


# at the end: nothing can run on the cluster afterwards


@program
def a_worker_dies(at):
    with at.tf.device(at.far):
        v = at.tf.Variable(1.0)
        take = at.tf.FIFOQueue(4, [at.tf.float32], [[]]).dequeue()
    session = at.session(operation_timeout_in_ms=3000)
    session.run(v.initializer)
    killer = threading.Timer(0.5, os.kill, (at.servers["worker:1"], signal.SIGKILL))
    killer.start()
    error = told(lambda: session.run(take))
    killer.join()
    return error[0] in ("UnavailableError", "AbortedError", "DeadlineExceededError") or error

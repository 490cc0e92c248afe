"""Programs of `while_loop` with variables, queues, dependencies, feeds and errors."""

from __future__ import annotations

from tests.runtime.programs.registry import after, error_of, failure, program


@program
def loop_whose_results_are_not_all_wanted(tf, place, run):
    v = tf.Variable(0)

    def body(i, a, b):
        return i + 1, a * 2, after(tf, tf.assign_add(v, 1), b + i)

    i, a, b = tf.while_loop(lambda i, a, b: i < 4, body, [0, 1, 0])
    run(v.initializer)
    return [run(a), run(v), run(i), run(v), run(b), run(v)]


@program
def loop_that_assigns(tf, place, run):
    v = tf.Variable(1)

    def body(i):
        with tf.control_dependencies([i]):
            read = v.read_value()
        with tf.control_dependencies([tf.assign(v, read * 2)]):
            return i + 1

    ends = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    run(v.initializer)
    return [run(ends), run(v), run(ends), run(v)]


@program
def loop_that_adds_to_a_variable(tf, place, run):
    v = tf.Variable([1.0, 2.0])
    ends = tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, tf.assign_add(v, [1.0, s[0]])),
        [0, tf.constant([0.0, 0.0])], parallel_iterations=1,
    )  # fmt: skip
    run(v.initializer)
    run(ends[0])
    return [run(v), run(ends[1] + 0.0), run(v)]


@program
def loop_that_reads_a_variable(tf, place, run):
    v = tf.Variable(1)

    def body(i, s):
        with tf.control_dependencies([tf.assign_add(v, i + s * 0)]):
            return i + 1, s + v.read_value()

    ends = tf.while_loop(lambda i, s: i < 4, body, [0, 0], parallel_iterations=1)
    run(v.initializer)
    return [run(ends), run(v)]


@program
def loop_of_a_variable(tf, place, run):
    v = tf.Variable(2)
    ends = tf.while_loop(lambda a: a < 50, lambda a: a * v, [v])
    run(v.initializer)
    return [run(ends), run(v), run(tf.assign(v, 7)), run(ends)]


@program
def an_uninitialized_variable_in_a_loop(tf, place, run):
    v = tf.Variable(2)
    ends = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, 1])
    never = tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a), [0, v])
    found = [failure(run, ends), failure(run, never)]
    run(v.initializer)
    return [*found, run(ends), run(never)]


@program
def before_a_loop(tf, place, run):
    v = tf.Variable(1)
    with tf.control_dependencies([tf.assign_add(v, 10)]):
        ends = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    run(v.initializer)
    return [run(ends), run(v)]


@program
def after_a_loop(tf, place, run):
    v = tf.Variable(1)

    def body(i):
        return after(tf, tf.assign_add(v, 1), i + 1)

    ends = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.control_dependencies([ends]):
        read = v.read_value() * 10
    run(v.initializer)
    return [run(read), run(v)]


@program
def dependencies_into_a_loop(tf, place, run):
    v, w = tf.Variable(1), tf.Variable(0)
    raised = [tf.assign_add(v, 10), tf.assign_add(w, 1)]

    def body(i, s):
        with tf.control_dependencies(raised):
            t = tf.identity(s)
        return i + 1, t + 1

    ends = tf.while_loop(lambda i, s: i < 3, body, [0, 0])
    run(tf.global_variables_initializer())
    return [run(ends), run([v, w]), run(ends), run([v, w])]


@program
def loop_that_puts_elements(tf, place, run):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], shared_name="loop_that_puts_elements")
    take, size = queue.dequeue_many(4), queue.size()
    ends = tf.while_loop(
        lambda i: i < 4,
        lambda i: after(tf, queue.enqueue(i * i), i + 1),
        [0],
        parallel_iterations=1,
    )
    return [run(ends), run(size), run(take)]


@program
def loop_that_takes_elements(tf, place, run):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], shared_name="loop_that_takes_elements")
    put, size = queue.enqueue_many([[3, 1, 4, 1, 5]]), queue.size()
    ends = tf.while_loop(
        lambda i, s: i < 4, lambda i, s: (i + 1, s * 10 + queue.dequeue()), [0, 0],
        parallel_iterations=1,
    )  # fmt: skip
    run(put)
    return [run(ends), run(size)]


@program
def loop_that_waits_for_elements(tf, place, run):
    with tf.device(place.there):
        queue = tf.FIFOQueue(2, tf.int32, shapes=[[]], shared_name="loop_that_waits_for_elements")
    put = tf.while_loop(lambda i: i < 9, lambda i: after(tf, queue.enqueue(i), i + 1), [0],
                        parallel_iterations=1)  # fmt: skip
    with tf.device(place.here):
        taken = tf.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s * 2 + queue.dequeue()),
                              [0, 0], parallel_iterations=1)  # fmt: skip
    return [run([put, taken]), run(queue.size())]


@program
def loop_until_a_queue_ends(tf, place, run):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], shared_name="loop_until_a_queue_ends")
    put, close = queue.enqueue_many([[1, 2, 3]]), queue.close()
    ends = tf.while_loop(lambda s: s < 100, lambda s: s + queue.dequeue(), [0])
    run(put)
    run(close)
    return [failure(run, ends), run(queue.size())]


@program
def loop_that_checks(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    ends = tf.while_loop(
        lambda i, s: i < 5, lambda i, s: (i + 1, tf.check_numerics(s / (x - 1.0), "bad")), [0, 1.0]
    )
    return [failure(run, ends, {x: value}) for value in (2.0, 1.0, 3.0)]


@program
def loop_takes_what_is_fed(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = x + 1
    ends = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + y), [0, y])
    return [run(ends, {x: 1}), run(ends, {y: 5}), run([ends[1], y], {x: 0, y: 6})]


@program
def loop_result_is_fed(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    i, s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), [0, x])
    return [run(s + i, {x: 1}), run(s + i, {x: 1, s: 100}), run(s + 1, {s: 5})]


@program
def what_is_in_a_branch_or_loop_is_not_fetched(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    kept = []

    def keep(tensor):
        kept.append(tensor)
        return tensor

    y = tf.cond(x > 0.0, lambda: keep(x * 2.0), lambda: x)
    z = tf.while_loop(lambda a: keep(a < 9.0), lambda a: keep(a * 2.0), [1.0])
    fetches = [*kept, *[each.op for each in kept], kept[0].op.inputs[0], z.op.inputs[0]]
    found = [isinstance(error_of(run, each, {x: 1.0}), (ValueError, TypeError)) for each in fetches]
    return [found, run([y, z], {x: 1.0})]

"""Programs of `while_loop` that cross tasks."""

from __future__ import annotations

from tests.runtime.programs.registry import after, failure, on, program


def sums(tf, place, n, cond_on, body_on, around):
    """Return a loop with its condition, its body, and what is around it on given devices."""

    def body(i, s):
        return on(tf, body_on, lambda: i + 1), on(tf, body_on, lambda: s * 2 + i)

    with tf.device(around):
        return tf.while_loop(lambda i, s: on(tf, cond_on, lambda: i < n), body, [0, 1])


@program
def loop_with_every_cut(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    ends = [sums(tf, place, n, a, b, c) for a in place for b in place for c in place]
    return [run(ends, {n: value}) for value in (0, 3)]


@program
def loop_whose_body_is_elsewhere(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.device(place.here):
        ends = tf.while_loop(
            lambda i, s: i < n, lambda i, s: (i + 1, on(tf, place.there, lambda: s * 2 + i)), [0, 1]
        )
    return [run(ends, {n: value}) for value in (0, 1, 8)]


@program
def loop_whose_condition_is_elsewhere(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.device(place.here):
        ends = tf.while_loop(
            lambda i, s: on(tf, place.there, lambda: i < n), lambda i, s: (i + 1, s * 2 + i), [0, 1]
        )
    return [run(ends, {n: value}) for value in (0, 1, 8)]


@program
def loop_around_three_tasks(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        for device in place:
            with tf.device(device):
                s = s + i * 2 + 1
        return i + 1, s

    with tf.device(place.third):
        ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    total = on(tf, place.there, lambda: ends[0] + ends[1])
    return [run([ends, total], {n: value}) for value in (0, 1, 9)]


@program
def loop_nested_over_tasks(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        bound = on(tf, place.there, lambda: i * 2)

        def inner(j, t):
            with tf.device(place.third):
                return j + 1, t + n

        with tf.device(place.third):
            return i + 1, tf.while_loop(lambda j, t: j < bound, inner, [0, s])[1]

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    return [run(ends, {n: value}) for value in (0, 1, 4)]


@program
def loop_nested_three_deep_over_tasks(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        def middle(j, t):
            def inner(k, u):
                return k + 1, on(tf, place.here, lambda: u + i) + on(tf, place.there, lambda: j * k)

            with tf.device(place.third):
                return j + 1, tf.while_loop(lambda k, u: k < j, inner, [0, t])[1]

        with tf.device(place.there):
            return i + 1, tf.while_loop(lambda j, t: j <= i, middle, [0, s])[1]

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    return [run(ends, {n: value}) for value in (0, 1, 4)]


@program
def cond_over_tasks_in_a_loop(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        return i + 1, tf.cond(
            on(tf, place.third, lambda: tf.equal(i % 2, 0)),
            lambda: on(tf, place.there, lambda: s + 10),
            lambda: on(tf, place.here, lambda: s * 2),
        )

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < n, body, [0, 1])
    return [run(ends, {n: value}) for value in (0, 1, 6)]


@program
def loop_over_tasks_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def looping():
        def body(i, s):
            return i + 1, on(tf, place.third, lambda: s + x)

        with tf.device(place.there):
            return tf.while_loop(lambda i, s: i < 4, body, [0, x])[1]

    with tf.device(place.here):
        y = tf.cond(x > 0, looping, lambda: on(tf, place.third, lambda: x - 1))
        z = tf.cond(x > 0, lambda: x, looping)
    return [run([y, z], {x: value}) for value in (3, -3, 5)]


@program
def loop_over_tasks_in_a_branch_in_a_loop(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        def looping():
            with tf.device(place.there):
                return tf.while_loop(
                    lambda j, t: on(tf, place.third, lambda: j < i),
                    lambda j, t: (j + 1, t + x),
                    [0, s],
                )[1]

        return i + 1, tf.cond(
            tf.equal(i % 3, 2), looping, lambda: on(tf, place.third, lambda: s + 1)
        )

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < 7, body, [0, 0])
    return [run(ends, {x: value}) for value in (10, -1)]


@program
def a_variable_elsewhere_raised_in_a_loop(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    with tf.device(place.there):
        v = tf.Variable(0)

    def body(i, s):
        with tf.device(place.third):
            t = s + i
        with tf.control_dependencies([tf.assign_add(v, i + 1)]):
            return i + 1, tf.identity(t)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    run(v.initializer)
    return [[run(ends, {n: value}), run(v)] for value in (3, 0, 2)]


@program
def dependencies_over_tasks_in_a_loop(tf, place, run):
    v = on(tf, place.there, lambda: tf.Variable(0))
    w = on(tf, place.third, lambda: tf.Variable(0))

    def body(i):
        j = on(tf, place.here, lambda: i + 1)
        with tf.control_dependencies([j]):
            first = tf.assign_add(v, 1)
        with tf.control_dependencies([first]):
            second = tf.assign_add(w, 10)
        with tf.control_dependencies([second]):
            return tf.identity(j)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i: i < 4, body, [0])
    run(tf.global_variables_initializer())
    return [run(ends), run([v, w]), run(ends), run([v, w])]


@program
def before_and_after_a_loop_over_tasks(tf, place, run):
    v = on(tf, place.there, lambda: tf.Variable(1))

    def body(i, s):
        return i + 1, on(tf, place.third, lambda: s + v.read_value() * 0 + i)

    with tf.device(place.here), tf.control_dependencies([tf.assign_add(v, 10)]):
        ends = tf.while_loop(lambda i, s: i < 3, body, [0, 0])
    with tf.device(place.there), tf.control_dependencies([ends[1]]):
        read = v.read_value()
    doubled = on(tf, place.third, lambda: read * 2)
    run(v.initializer)
    return [run([ends, doubled]), run(v)]


@program
def a_queue_elsewhere_in_a_loop(tf, place, run):
    with tf.device(place.there):
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="a_queue_elsewhere_in_a_loop")

    def putting(i):
        return after(tf, queue.enqueue(i * i), i + 1)

    def taking(i, s):
        return i + 1, on(tf, place.third, lambda: s * 2 + queue.dequeue())

    with tf.device(place.here):
        put = tf.while_loop(lambda i: i < 8, putting, [0], parallel_iterations=1)
    with tf.device(place.third):
        taken = tf.while_loop(lambda i, s: i < 8, taking, [0, 0], parallel_iterations=1)
    return [run([put, taken]), run(queue.size())]


@program
def loop_of_strings_over_tasks(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s, p):
        return (i + 1, on(tf, place.there, lambda: tf.string_join([s, tf.as_string(i)])),
                on(tf, place.third, lambda: tf.logical_not(p)))  # fmt: skip

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s, p: i < n, body, [0, "x", True])
    return [run(ends, {n: value}) for value in (0, 3)]


@program
def loop_that_waits_for_a_dependency_elsewhere(tf, place, run):
    v = on(tf, place.there, lambda: tf.Variable(0))
    raised = tf.assign_add(v, 5)

    def body(i, s):
        with tf.control_dependencies([raised]):
            return i + 1, on(tf, place.third, lambda: s + i)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < 3, body, [0, 0])
    run(v.initializer)
    return [run(ends), run(v)]


@program
def loop_whose_constant_is_elsewhere(tf, place, run):
    x = on(tf, place.third, lambda: tf.placeholder(tf.float32, [2], name="x"))
    y = on(tf, place.there, lambda: x * 2.0)

    def body(i, s):
        return i + 1, on(tf, place.there, lambda: s + y) - on(tf, place.third, lambda: x)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < 5, body, [0, y])
    return [run(ends, {x: [1.0, 2.0]}), run(ends, {x: [0.0, -1.0]})]


@program
def part_of_a_loop_over_tasks_is_wanted(tf, place, run):
    v = on(tf, place.third, lambda: tf.Variable(0))

    def body(i, a, b):
        return i + 1, on(tf, place.there, lambda: a * 2), after(tf, tf.assign_add(v, 1), b + i)

    with tf.device(place.here):
        i, a, b = tf.while_loop(lambda i, a, b: i < 4, body, [0, 1, 0])
    run(v.initializer)
    return [run(a), run(v), run(i), run(v), run(b), run(v)]


@program
def an_error_in_a_loop_over_tasks(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, s):
        with tf.device(place.there):
            t = tf.check_numerics(s / (x - 1.0), "bad")
        return i + 1, on(tf, place.third, lambda: t + 1.0)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < 4, body, [0, 1.0])
    return [failure(run, ends, {x: value}) for value in (2.0, 1.0, 3.0)]


@program
def large_values_in_a_loop_over_tasks(tf, place, run):
    x = tf.ones([300, 400])

    def body(i, s):
        return i + 1, on(tf, place.there, lambda: s + x) * on(tf, place.third, lambda: x)

    with tf.device(place.here):
        ends = tf.while_loop(lambda i, s: i < 6, body, [0, x])
    return [run(tf.reduce_sum(ends[1])), run(ends[1])[7, 5]]

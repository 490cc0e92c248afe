"""Programs of `cond` and `case` that cross tasks, and of `case`."""

from __future__ import annotations

from tests.runtime.programs.registry import after, failure, on, program


@program
def cond_on_one_task_branches_on_another(tf, place, run):
    with tf.device(place.here):
        x = tf.placeholder(tf.float32, [], name="x")
        p = x < 2.0
    with tf.device(place.there):
        y = tf.cond(p, lambda: x + 1.0, lambda: x * 10.0)
    with tf.device(place.here):
        z = y + 0.5
    return [run([y, z], {x: value}) for value in (1.0, 3.0)]


@program
def cond_on_three_tasks(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    p = on(tf, place.third, lambda: x < 2.0)
    outside = on(tf, place.there, lambda: x * 100.0)

    def true():
        return on(tf, place.there, lambda: outside + 1.0)

    def false():
        return on(tf, place.here, lambda: -outside)

    with tf.device(place.third):
        y = tf.cond(p, true, false)
    z = on(tf, place.here, lambda: y * 2.0)
    return [run(z, {x: value}) for value in (1.0, 3.0, 1.5)]


@program
def cond_with_every_cut(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    ends = []
    for a in place:
        for b in place:
            p = on(tf, a, lambda: x > 0)
            ends.append(tf.cond(
                p,
                lambda b=b: on(tf, b, lambda: x + 1),
                lambda a=a, b=b: on(tf, a, lambda: on(tf, b, lambda: x * 2) - 1),
            ))  # fmt: skip
    return [run(ends, {x: value}) for value in (5, -5)]


@program
def cond_nested_over_tasks(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def outer():
        with tf.device(place.there):
            y = x * 3
            return tf.cond(y > 20, lambda: on(tf, place.third, lambda: y + 1),
                           lambda: on(tf, place.here, lambda: y - 1))  # fmt: skip

    with tf.device(place.here):
        z = tf.cond(x > 0, outer, lambda: on(tf, place.third, lambda: -x))
    w = on(tf, place.there, lambda: z * 2)
    return [run([z, w], {x: value}) for value in (1, 9, -4)]


@program
def a_variable_elsewhere_assigned_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.device(place.there):
        v = tf.Variable(1.0)
    with tf.device(place.here):
        y = tf.cond(x > 0.0, lambda: tf.assign_add(v, x) * 2.0, lambda: v + 0.5)
    run(v.initializer)
    return [[run(y, {x: value}), run(v)] for value in (2.0, -2.0, 3.0)]


@program
def dependencies_over_tasks_in_branches(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    v = on(tf, place.there, lambda: tf.Variable(0))
    w = on(tf, place.third, lambda: tf.Variable(0))

    def raising():
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return after(tf, tf.assign_add(w, 10), on(tf, place.here, lambda: x * 2))

    y = tf.cond(x > 0, raising, lambda: x)
    run(tf.global_variables_initializer())
    return [[run(y, {x: value}), run([v, w])] for value in (1, -1, -1, 2)]


@program
def an_operation_elsewhere_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    v = on(tf, place.third, lambda: tf.Variable(0))
    with tf.device(place.there):
        y = tf.cond(x > 0, lambda: tf.assign_add(v, 1).op, lambda: tf.no_op())
    with tf.device(place.here), tf.control_dependencies([y]):
        z = tf.identity(x)
    run(v.initializer)
    return [[run(z, {x: value}), run(v)] for value in (1, -1, 2, -2)]


@program
def what_a_dead_branch_sends_is_not_waited_for(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    results = []
    with tf.device(place.here):
        for k in range(3):
            results.append(tf.cond(
                tf.equal(x, k),
                lambda k=k: on(tf, place.there, lambda: on(tf, place.third, lambda: x * 2) + k),
                lambda k=k: on(tf, place.third, lambda: on(tf, place.there, lambda: x * 3) - k),
            ))  # fmt: skip
        total = tf.add_n(results)
    return [run(total, {x: value}) for value in range(4)]


# case


@program
def case_takes_the_first(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([(x < 1, lambda: x * 10), (x < 5, lambda: x + 100)], default=lambda: -x)
    return [run(y, {x: value}) for value in (0, 1, 4, 9)]


@program
def case_without_default(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([(x < 1, lambda: x * 10), (x < 5, lambda: x + 100)])
    return [failure(run, y, {x: value}) for value in (0, 4, 9, 1)]


@program
def case_exclusive(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([(x < 1, lambda: x * 10), (x > -1, lambda: x + 100)], default=lambda: -x,
                exclusive=True)  # fmt: skip
    return [failure(run, y, {x: value}) for value in (-1, 0, 4, -2)]


@program
def case_of_a_dict(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case({x < 1: lambda: x * 10, x > 5: lambda: x + 100}, default=lambda: -x, exclusive=True)
    return [failure(run, y, {x: value}) for value in (-1, 3, 9)]


@program
def case_of_one(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([(x < 1, lambda: (x, x * 2))], default=lambda: (x + 1, x))
    z = tf.case([(x < 1, lambda: x)])
    return [run(y, {x: 0}), run(y, {x: 1}), run(z, {x: 0}), failure(run, z, {x: 1})]


@program
def case_over_tasks(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([
        (on(tf, place.here, lambda: x < 0), lambda: on(tf, place.there, lambda: x - 1)),
        (on(tf, place.there, lambda: x < 5), lambda: on(tf, place.third, lambda: x + 1)),
        (on(tf, place.third, lambda: x < 9), lambda: on(tf, place.here, lambda: x * 2)),
    ], default=lambda: on(tf, place.there, lambda: -x))  # fmt: skip
    return [run(y, {x: value}) for value in (-3, 3, 7, 11)]

"""Programs with branches and loops, for `test_control_flow.py` and for real TensorFlow.

A program takes `tf`, a `Place` with three devices, and `run`, which is the `run` of a session; it
returns values, and names of the errors that it met. This file runs on real TensorFlow's own Python
(3.7 or later), by its path, and imports nothing of ours: started so, it writes what each program
returns, as JSON. To store what that says, so that the comparison needs no real TensorFlow:

    python -m tests.runtime.control_programs "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import collections
import json
import os
import shlex
import subprocess
import sys

import numpy as np

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "control_flow_1_15.json")

Place = collections.namedtuple("Place", "here there third")  # noqa: PYI024  read by Python 3.7
Pair = collections.namedtuple("Pair", "first second")  # noqa: PYI024

PROGRAMS = {}

# What TensorFlow 1.15 never ends if the devices differ: it runs these on one.
ON_ONE_DEVICE = {"before_and_after_a_loop_over_tasks", "loop_that_waits_for_a_dependency_elsewhere"}


def program(function):
    """Note a program."""
    PROGRAMS[function.__name__] = function
    return function


def failure(run, *args):
    """Return the name of the error that a step ends with."""
    try:
        return run(*args)
    except Exception as error:
        return type(error).__name__


def on(tf, device, function):
    """Return what `function` builds on a device."""
    with tf.device(device):
        return function()


def after(tf, first, value):
    """Return `value`, once `first` has run."""
    with tf.control_dependencies([first]):
        return tf.identity(value)


# branches


@program
def cond_both_ways(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x < 2.0, lambda: x + 1.0, lambda: x * 10.0)
    return [run(y, {x: value}) for value in (1.0, 3.0, 2.0, -1.0)]


@program
def cond_of_what_is_outside(tf, place, run):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.constant(5.0)
    z = tf.cond(x < 2.0, lambda: x, lambda: y)
    return [run(z, {x: value}) for value in (1.0, 3.0)]


@program
def cond_of_one_tensor(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.cond(tf.equal(x, 0), lambda: x, lambda: x)
    return [run(y, {x: value}) for value in (0, 7)]


@program
def cond_of_numbers(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    y = tf.cond(x, lambda: 1, lambda: 2)
    z = tf.cond(x, lambda: [1.5, "a"], lambda: [2.5, "b"])
    w = tf.cond(x, lambda: np.arange(3), lambda: np.zeros(2, np.int64))
    return [run([y, z, w], {x: value}) for value in (True, False)]


@program
def cond_nested(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def small():
        return tf.cond(x < -5, lambda: x * 100, lambda: x + 1)

    def large():
        return tf.cond(x < 5, lambda: x * 2, lambda: tf.cond(x < 50, lambda: -x, lambda: 0))

    y = tf.cond(x < 0, small, large)
    return [run(y, {x: value}) for value in (-9, -3, 3, 9, 99)]


@program
def cond_structures(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    found = []
    for make in (
        lambda k: [x + k, x * k],
        lambda k: (x + k, x * k),
        lambda k: {"a": x + k, "b": [x * k, (x - k,)]},
        lambda k: Pair(x + k, {"c": x}),
        lambda k: [x + k],
        lambda k: (x + k,),
        lambda k: {"only": x + k},
    ):
        y = tf.cond(x > 0, lambda make=make: make(2), lambda make=make: make(3))
        found.append([type(y).__name__ == "Tensor", run([y], {x: 5}), run([y], {x: -5})])
    kept = tf.cond(x > 0, lambda: [x], lambda: [x + 1], strict=True)
    return [found, type(kept).__name__, run(kept, {x: 0})]


@program
def cond_of_operations(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    v = tf.Variable(0)
    y = tf.cond(x > 0, lambda: tf.assign_add(v, x).op, lambda: tf.no_op())
    z = tf.cond(x > 0, lambda: [tf.no_op(), x], lambda: [tf.assign_add(v, 100).op, x * 2])
    run(tf.global_variables_initializer())
    found = []
    for value in (3, -3, 4):
        run([y, z[0]], {x: value})
        found.append([run(z[1], {x: value}), run(v)])
    return found


@program
def cond_fetches_its_operation(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    v = tf.Variable(0)
    y = tf.cond(x > 0, lambda: tf.assign_add(v, x).op, lambda: tf.assign_add(v, 100).op)
    run(v.initializer)
    return [(run(y.op, {x: value}), run(v)) for value in (1, -1, 2)]


@program
def cond_assigns(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    y = tf.cond(x > 0.0, lambda: tf.assign(v, x), lambda: tf.assign_add(w, x))
    run(tf.global_variables_initializer())
    return [[run(y, {x: value}), run([v, w])] for value in (5.0, -1.0, 7.0)]


@program
def cond_of_variables(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    v, w = tf.Variable([1, 2]), tf.Variable([3, 4])
    y = tf.cond(x, lambda: v, lambda: w)
    z = tf.cond(x, lambda: v + 1, lambda: w * v)
    run(tf.global_variables_initializer())
    found = [run([y, z], {x: value}) for value in (True, False)]
    run(tf.assign(v, [8, 9]))
    return [*found, run([y, z], {x: True})]


@program
def cond_outside_runs_always(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    v = tf.Variable(0)
    raised = tf.assign_add(v, 1)
    y = tf.cond(x, lambda: raised + 0, lambda: 0)
    run(v.initializer)
    return [[run(y, {x: value}), run(v)] for value in (True, False, False)]


@program
def cond_waits_for_what_its_function_waits_for(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    v, w = tf.Variable(0), tf.Variable(0)

    def raising():
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            with tf.control_dependencies([tf.assign_add(w, 10)]):
                return tf.constant(1)

    y = tf.cond(x, raising, lambda: after(tf, tf.assign_sub(v, 1), 2))
    run(tf.global_variables_initializer())
    return [[run(y, {x: value}), run([v, w])] for value in (True, False, False, True)]


@program
def after_a_cond(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    v = tf.Variable(1)
    y = tf.cond(x, lambda: tf.assign(v, 5), lambda: tf.assign(v, 6))
    with tf.control_dependencies([y]):
        z = v.read_value() * 2
    run(v.initializer)
    return [run(z, {x: value}) for value in (True, False)]


@program
def dependencies_around_a_cond(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    v = tf.Variable(1)
    with tf.control_dependencies([tf.assign_add(v, 10)]):
        y = tf.cond(x, lambda: v.read_value() + 0, lambda: -v.read_value())
    run(v.initializer)
    return [run(y, {x: value}) for value in (True, False, True)]


@program
def two_conds_on_one_predicate(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    p = x > 0
    a, b = tf.cond(p, lambda: (x, x + 1), lambda: (x - 1, x))
    c = tf.cond(p, lambda: a * 2, lambda: b * 3)
    d = tf.cond(p, lambda: tf.cond(p, lambda: c, lambda: 0), lambda: tf.cond(p, lambda: 0, lambda: b))
    return [run([a, b, c, d], {x: value}) for value in (1, -1)]


@program
def cond_that_uses_part_of_its_results(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    v = tf.Variable(0)
    y = tf.cond(x > 0, lambda: [x, tf.assign_add(v, 1)], lambda: [x * 2, tf.assign_add(v, 10)])
    run(v.initializer)
    return [run(y[0], {x: 1}), run(v), run(y[0], {x: -1}), run(v), run(y, {x: 1}), run(v)]


@program
def cond_of_types(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    values = [("a", "bc"), (True, False), (np.int64(3), np.int64(4)), (1.5, 2.5),
              (np.float64(1.5), np.float64(2.5)), (1 + 2j, 3j)]  # fmt: skip
    ys = [tf.cond(x, lambda t=t: tf.constant(t), lambda f=f: tf.constant(f)) for t, f in values]
    return [[y.dtype.name for y in ys], *[run(ys, {x: value}) for value in (True, False)]]


@program
def cond_of_shapes(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    y = tf.cond(x, lambda: tf.zeros([2, 3]), lambda: tf.ones([2, 1]))
    z = tf.cond(x, lambda: tf.zeros([2]), lambda: tf.ones([]))
    shapes = [y.shape.as_list(), z.shape.ndims]
    return [shapes, run([y, z, tf.shape(y)], {x: True}), run([y, z, tf.shape(y)], {x: False})]


@program
def cond_result_is_fed(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x * 3.0)
    z = y + 1.0
    return [run(z, {y: 10.0}), run(z, {x: 1.0}), run([y, z], {x: -1.0, y: 0.5})]


@program
def cond_predicate_is_fed(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    p = x > 0.0
    y = tf.cond(p, lambda: x * 2.0, lambda: x * 3.0)
    return [run(y, {x: 1.0, p: False}), run([y, p], {x: 1.0, p: True})]


@program
def cond_takes_an_element_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    put, size = queue.enqueue_many([[1, 2, 3]]), queue.size()
    y = tf.cond(x, lambda: queue.dequeue(), lambda: -1)
    run(put)
    return [[run(y, {x: value}), run(size)] for value in (False, True, False, True)]


@program
def cond_waits_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    with tf.device(place.there):
        queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    put, size = queue.enqueue(7), queue.size()
    with tf.device(place.here):
        y = tf.cond(x, lambda: queue.dequeue() + 1, lambda: -1)
    first = run([y, put], {x: True})[0]
    second = run([y, put], {x: False})[0]
    return [first, second, run(size), run(y, {x: True}), run(size)]


@program
def cond_puts_an_element_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    size, take = queue.size(), queue.dequeue()
    y = tf.cond(x > 0, lambda: after(tf, queue.enqueue(x), x), lambda: 0)
    sizes = []
    for value in (1, -1, 2):
        run(y, {x: value})
        sizes.append(run(size))
    return [sizes, run(take), run(take)]


@program
def cond_checks_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.0, lambda: tf.check_numerics(1.0 / (x - 1.0), "bad"), lambda: x)
    found = [failure(run, y, {x: value}) for value in (3.0, 1.0, -1.0, 2.0)]
    return found


# branches over tasks


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


# loops


@program
def loop_counts(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    y = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])
    return [run(y, {n: value}) for value in (5, 0, -3, 1, 100)]


@program
def loop_with_an_accumulator(tf, place, run):
    x = tf.placeholder(tf.float32, [2], name="x")
    i, s = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 2.0 + x), [0, x])
    return [run([i, s], {x: [1.0, -1.0]}), run(s, {x: [0.0, 2.0]}), run(i, {x: [0.0, 0.0]})]


@program
def loop_that_swaps(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    ends = tf.while_loop(
        lambda i, a, b, c: i < n, lambda i, a, b, c: (i + 1, b, c, a + b), [0, 1, 10, 100]
    )
    return [run(ends, {n: value}) for value in (0, 1, 2, 3, 7)]


@program
def loop_whose_variables_cross(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    ends = tf.while_loop(lambda a, b: a + b < n, lambda a, b: (b + 1, a * 2), [1, 2])
    return [run(ends, {n: value}) for value in (0, 10, 50)]


@program
def loop_nested(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        _, t = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [0, s])
        return i + 1, t

    ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    return [run(ends, {n: value}) for value in (0, 1, 6)]


@program
def loop_nested_three_deep(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s):
        def middle(j, t):
            def inner(k, u):
                return k + 1, u + i + 10 * j + 100 * k + n

            return j + 1, tf.while_loop(lambda k, u: k < j, inner, [0, t])[1]

        return i + 1, tf.while_loop(lambda j, t: j <= i, middle, [0, s])[1]

    ends = tf.while_loop(lambda i, s: i < n, body, [0, 0])
    return [run(ends, {n: value}) for value in (0, 1, 3, 5)]


@program
def two_loops_in_a_row(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    first = tf.while_loop(lambda i: i < n, lambda i: i + 2, [0])
    second = tf.while_loop(lambda i, s: i < first, lambda i, s: (i + 1, s + first), [0, 0])
    return [run([first, *second], {n: value}) for value in (0, 5)]


@program
def two_loops_in_a_loop(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, s, t):
        a = tf.while_loop(lambda j: j * j < i, lambda j: j + 1, [0])
        b = tf.while_loop(lambda j: j < a, lambda j: j + 3, [s])
        return i + 1, s + a, t + b

    ends = tf.while_loop(lambda i, s, t: i < n, body, [0, 0, 0])
    return [run(ends, {n: value}) for value in (1, 8)]


@program
def cond_in_a_loop(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 3, 1), lambda: s + x, lambda: s * 2 + i)

    ends = tf.while_loop(lambda i, s: i < 7, body, [0, 1])
    return [run(ends, {x: value}) for value in (5, -5)]


@program
def cond_in_the_condition_of_a_loop(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def going(i, s):
        return tf.cond(x > 0, lambda: i < x, lambda: s < 20)

    ends = tf.while_loop(going, lambda i, s: (i + 1, s + 3), [0, 0])
    return [run(ends, {x: value}) for value in (2, -1, 9)]


@program
def loop_in_a_cond(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    y = x * 2

    def looping():
        return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + y), [0, x])[1]

    z = tf.cond(x > 0, looping, lambda: y - 1)
    w = tf.cond(x > 0, lambda: y, looping)
    return [run([z, w], {x: value}) for value in (3, -3)]


@program
def loop_in_a_cond_in_a_loop(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        def looping():
            return tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + x), [0, s])[1]

        return i + 1, tf.cond(s < 10, looping, lambda: s - i)

    ends = tf.while_loop(lambda i, s: i < 9, body, [0, 1])
    return [run(ends, {x: value}) for value in (3, 0, 20)]


@program
def constants_of_outer_loops(tf, place, run):
    x, y = (tf.placeholder(tf.int32, [], name=name) for name in "xy")
    z = x * 7

    def body(i, s):
        w = i * y

        def inner(j, t):
            return j + 1, t + w + z + x + tf.constant(1)

        return i + 1, tf.while_loop(lambda j, t: j < 3, inner, [0, s])[1] + z

    ends = tf.while_loop(lambda i, s: i < 3, body, [0, 0])
    return [run(ends, {x: 1, y: 2}), run(ends, {x: -2, y: 5})]


@program
def loop_with_maximum_iterations(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    ends = [
        tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=3),
        tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=9),
        tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=0),
        tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=n),
        tf.while_loop(lambda i, s: True, lambda i, s: [i + 2, s + i], [0, 1], maximum_iterations=n),
    ]
    return [run(ends, {n: value}) for value in (4, 0)]


@program
def loop_that_grows(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    i, s = tf.while_loop(
        lambda i, s: i < n, lambda i, s: [i + 1, tf.concat([s, [i]], 0)], [0, tf.zeros([1], tf.int32)],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    _, limited = tf.while_loop(
        lambda j, s: tf.size(s) < 100, lambda j, s: [j, tf.tile(s, [2, 1])], [0, tf.ones([1, 2])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])], maximum_iterations=n,
    )  # fmt: skip
    return [s.shape.as_list(), limited.shape.as_list(),
            [run([i, s, tf.shape(limited)], {n: value}) for value in (0, 3)]]  # fmt: skip


@program
def loop_structures(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")

    def going(i, *rest):
        return i < n

    ends = [
        tf.while_loop(going, lambda i, a: [i + 1, a * 2], [0, 1]),
        tf.while_loop(going, lambda i, a: (i + 1, a * 2), (0, 1)),
        tf.while_loop(going, lambda i, a: (i + 1, (a[1], a[0] + a[1])), (0, (1, 2))),
        tf.while_loop(going, lambda i, a: (i + 1, {"x": a["y"], "y": a["x"] + i}),
                      (0, {"x": 1, "y": 10})),
        tf.while_loop(going, lambda i, a: (i + 1, Pair(a.second, a.first + i)), (0, Pair(1, 2))),
        tf.while_loop(lambda p: p.first < n, lambda p: [Pair(p.first + 1, p.second * 2)], [Pair(0, 1)]),
        tf.while_loop(lambda d: d["a"] < n, lambda d: [{"a": d["a"] + 1, "b": d["b"]}],
                      [{"a": 0, "b": 1}]),
    ]  # fmt: skip
    kinds = [type(each).__name__ for each in ends]
    return [kinds, *[run(ends, {n: value}) for value in (0, 3)]]


@program
def loop_of_one_variable(tf, place, run):
    ends = [
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
        tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0]),
        tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)),
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True),
    ]
    return [[type(each).__name__ for each in ends], run(ends)]


@program
def loop_of_numbers(tf, place, run):
    ends = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, 5, b), [0, 1, 2.5])
    never = tf.while_loop(lambda i: False, lambda i: i + 1, [7])
    return [run(ends), run(never)]


@program
def loop_of_what_is_outside(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    ends = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, x), [0, 0])
    once = tf.while_loop(lambda i, a: a < 3, lambda i, a: (i + 1, x), [0, 0])
    back = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, x, a), [0, 0, 0])
    return [run([ends, once, back], {x: value}) for value in (7, 5)]


@program
def loop_of_types(tf, place, run):
    ends = [
        tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.string_join([s, "b"])), [0, "a"]),
        tf.while_loop(lambda p, i: p, lambda p, i: (i < 2, i + 1), [True, 0]),
        tf.while_loop(lambda i: i < 2**40, lambda i: i * 1000, [tf.constant(3, tf.int64)]),
        tf.while_loop(lambda x: x < 10.0, lambda x: x * 2.0, [tf.constant(1.0, tf.float64)]),
        tf.while_loop(lambda x: tf.abs(x) < 10.0, lambda x: x * (1 + 1j), [tf.constant(1j, tf.complex64)]),
    ]  # fmt: skip
    return run(ends)


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
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    take, size = queue.dequeue_many(4), queue.size()
    ends = tf.while_loop(
        lambda i: i < 4, lambda i: after(tf, queue.enqueue(i * i), i + 1), [0], parallel_iterations=1
    )
    return [run(ends), run(size), run(take)]


@program
def loop_that_takes_elements(tf, place, run):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
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
        queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
    put = tf.while_loop(lambda i: i < 9, lambda i: after(tf, queue.enqueue(i), i + 1), [0],
                        parallel_iterations=1)  # fmt: skip
    with tf.device(place.here):
        taken = tf.while_loop(lambda i, s: i < 9, lambda i, s: (i + 1, s * 2 + queue.dequeue()),
                              [0, 0], parallel_iterations=1)  # fmt: skip
    return [run([put, taken]), run(queue.size())]


@program
def loop_until_a_queue_ends(tf, place, run):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    put, close = queue.enqueue_many([[1, 2, 3]]), queue.close()
    ends = tf.while_loop(lambda s: s < 100, lambda s: s + queue.dequeue(), [0])
    run(put)
    run(close)
    return [failure(run, ends), run(queue.size())]


@program
def loop_with_rounds_side_by_side(tf, place, run):
    n = tf.placeholder(tf.int32, [], name="n")
    ends = []
    for parallel in (1, 2, 10, 100):
        ends.append(tf.while_loop(
            lambda i, s, t: i < n, lambda i, s, t: (i + 1, s + i * i, t * 2 + s % 3), [0, 0, 1],
            parallel_iterations=parallel,
        ))  # fmt: skip
    return [run(ends, {n: value}) for value in (0, 1, 25)]


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
def loop_of_matrices(tf, place, run):
    x = tf.constant([[1.0, 1.0], [1.0, 0.0]])
    ends = tf.while_loop(lambda i, m: i < 10, lambda i, m: (i + 1, tf.matmul(m, x)), [0, x])
    return [run(ends), run(tf.reduce_sum(ends[1]) + tf.cast(ends[0], tf.float32))]


@program
def loop_over_a_tensor_array(tf, place, run):
    array = tf.TensorArray(tf.int32, 5)
    _, array = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, i * i)), (0, array))
    return run(array.stack())


# loops over tasks


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
    return [run(ends, {n: value}) for value in (0, 1, 5)]


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
                    lambda j, t: on(tf, place.third, lambda: j < i), lambda j, t: (j + 1, t + x), [0, s]
                )[1]

        return i + 1, tf.cond(tf.equal(i % 3, 2), looping, lambda: on(tf, place.third, lambda: s + 1))

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
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])

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


def error_of(run, *args):
    try:
        return run(*args)
    except Exception as error:
        return error


def plain(value):
    """Return values as JSON can hold them; structures that are no lists say what they are."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bytes):
        return "b:" + value.decode("latin-1")
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"dict": [[key, plain(value[key])] for key in sorted(value)]}
    if isinstance(value, tuple):
        return {type(value).__name__: [plain(each) for each in value]}
    return [plain(each) for each in value] if isinstance(value, list) else value


def real_answers():
    """Return what this Python's TensorFlow makes of the programs."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    if not tf.__version__.startswith("1"):
        tf.compat.v1.disable_v2_behavior()
    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    config = tf.ConfigProto(device_count={"CPU": 3})
    found = {}
    for name, function in PROGRAMS.items():
        devices = ["/cpu:0"] * 3 if name in ON_ONE_DEVICE else ["/cpu:0", "/cpu:1", "/cpu:2"]
        with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=config) as session:
            found[name] = plain(function(tf, Place(*devices), session.run))
    return found


def ask(command):
    """Return what a real TensorFlow says; `command` runs its Python, as in a shell."""
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def store(command):
    """Write the expectations that are compared with where no real TensorFlow is."""
    rows = [
        f"{json.dumps(name)}: {json.dumps(said, separators=(',', ':'))}"
        for name, said in ask(command).items()
    ]
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        json.dump(real_answers(), sys.stdout)

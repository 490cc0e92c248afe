"""Programs of `cond` on one task."""

from __future__ import annotations

import numpy as np

from tests.runtime.programs.registry import Pair, after, failure, program


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
    d = tf.cond(
        p, lambda: tf.cond(p, lambda: c, lambda: 0), lambda: tf.cond(p, lambda: 0, lambda: b)
    )
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
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="cond_takes_an_element_in_a_branch")
    put, size = queue.enqueue_many([[1, 2, 3]]), queue.size()
    y = tf.cond(x, lambda: queue.dequeue(), lambda: -1)
    run(put)
    return [[run(y, {x: value}), run(size)] for value in (False, True, False, True)]


@program
def cond_waits_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.bool, [], name="x")
    with tf.device(place.there):
        queue = tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="cond_waits_in_a_branch")
    put, size = queue.enqueue(7), queue.size()
    with tf.device(place.here):
        y = tf.cond(x, lambda: queue.dequeue() + 1, lambda: -1)
    first = run([y, put], {x: True})[0]
    second = run([y, put], {x: False})[0]
    return [first, second, run(size), run(y, {x: True}), run(size)]


@program
def cond_puts_an_element_in_a_branch(tf, place, run):
    x = tf.placeholder(tf.int32, [], name="x")
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="cond_puts_an_element_in_a_branch")
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

"""Programs of `while_loop` on one task."""

from __future__ import annotations

from tests.runtime.programs.registry import Pair, program


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
        lambda i, s: i < n, lambda i, s: [i + 1, tf.concat([s, [i]], 0)],
        [0, tf.zeros([1], tf.int32)],
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
        tf.while_loop(lambda p: p.first < n, lambda p: [Pair(p.first + 1, p.second * 2)],
                      [Pair(0, 1)]),
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
        tf.while_loop(lambda x: tf.abs(x) < 10.0, lambda x: x * (1 + 1j),
                      [tf.constant(1j, tf.complex64)]),
    ]  # fmt: skip
    return run(ends)


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
def loop_of_matrices(tf, place, run):
    x = tf.constant([[1.0, 1.0], [1.0, 0.0]])
    ends = tf.while_loop(lambda i, m: i < 10, lambda i, m: (i + 1, tf.matmul(m, x)), [0, x])
    return [run(ends), run(tf.reduce_sum(ends[1]) + tf.cast(ends[0], tf.float32))]


@program
def loop_over_a_tensor_array(tf, place, run):
    array = tf.TensorArray(tf.int32, 5)
    _, array = tf.while_loop(
        lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, i * i)), (0, array)
    )
    return run(array.stack())

"""Programs with branches and loops, for real TensorFlow and ours.

`tests/ops/autodiff/test_control_flow_gradients.py` compares them.

A program takes `tf` and its inputs, whose values stand beside it, and returns a tensor or several.
What it is tried for is their values and their gradients with respect to the inputs. This file runs
on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of ours. It prints
one JSON object, what comes of every program. To store that, so that the comparison needs no real
TensorFlow:

    python -m tests.ops.control_flow.flow_programs "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import json
import os
import shlex
import subprocess
import sys
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_flow_1_15.json")
PROGRAMS = {}


def program(*values):
    """Note a program and the values of its inputs."""

    def note(function):
        PROGRAMS[function.__name__] = (function, values)
        return function

    return note


def alone(tf, gradients):
    """Return gradients as results whose own gradients are not asked for."""
    return [None if each is None else tf.stop_gradient(each) for each in gradients]


# cond


@program(3.0, 2.0)
def cond_true(tf, x, u):
    return tf.cond(x > 2.0, lambda: x * x * u, lambda: x + u)


@program(1.0, 2.0)
def cond_false(tf, x, u):
    return tf.cond(x > 2.0, lambda: x * x * u, lambda: x + u)


@program(3.0, 2.0)
def cond_input_of_the_other_side(tf, x, u):
    return tf.cond(x > 2.0, lambda: x * 2.0, lambda: x * u)


@program([[1.0, 2.0, 3.0]], [[4.0], [5.0]])
def cond_input_of_the_other_side_with_a_shape(tf, x, u):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x), lambda: x * tf.reduce_sum(u))


@program(3.0, 2.0)
def cond_gives_what_it_takes(tf, x, u):
    return tf.cond(x > 2.0, lambda: x, lambda: u)


@program(3.0, 2.0)
def cond_with_several_results(tf, x, u):
    a, b, c = tf.cond(x > 2.0, lambda: (x * u, x - u, 1), lambda: (x, u * u, 2))
    return a * a + b * tf.cast(c, tf.float32)


@program(3.0, 2.0)
def cond_with_one_result_used(tf, x, u):
    return tf.cond(x > 2.0, lambda: (x * u, x - u), lambda: (x, u * u))[0]


@program(3.0)
def cond_without_gradient_in_one_side(tf, x):
    return tf.cond(x < 2.0, lambda: x * x, lambda: tf.constant(5.0))


@program(3.0)
def cond_stopped(tf, x):
    return tf.cond(x > 2.0, lambda: tf.stop_gradient(x * x), lambda: tf.stop_gradient(x))


@program(3.0, 2.0)
def cond_in_cond(tf, x, u):
    def outer():
        y = x * u
        return tf.cond(u > 3.0, lambda: y * x, lambda: y * u + tf.sin(y))

    return tf.cond(x > 2.0, outer, lambda: x - u)


@program(3.0, 4.0)
def cond_in_both_sides_of_cond(tf, x, u):
    def side(factor):
        return lambda: tf.cond(u > 3.0, lambda: x * u * factor, lambda: x * x * factor)

    return tf.cond(x < 2.0, side(10.0), side(100.0))


@program(3.0, 2.0)
def cond_in_cond_on_one_predicate(tf, x, u):
    p = x > 2.0
    return tf.cond(p, lambda: tf.cond(p, lambda: x * u, lambda: u), lambda: x)


@program(3.0, 2.0)
def cond_after_cond(tf, x, u):
    y = tf.cond(x > 2.0, lambda: x * u, lambda: x + u)
    return tf.cond(y > 5.0, lambda: y * x, lambda: y + x) + y


@program(2.0)
def case_of_three(tf, x):
    pairs = [(x < 1.0, lambda: x), (x < 3.0, lambda: x * x * x)]
    return tf.case(pairs, default=lambda: -x)


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def cond_with_gather(tf, x):
    picked = lambda: tf.reduce_sum(tf.gather(x, [1, 1, 0]) * [[1.0], [2.0], [3.0]])  # noqa: E731
    return tf.cond(x[0, 0] > 0.0, picked, lambda: 1.0)


@program([[-1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def cond_with_gather_in_the_other_side(tf, x):
    return tf.cond(x[0, 0] > 0.0, lambda: tf.reduce_sum(tf.gather(x, [1, 1])), lambda: 1.0)


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def cond_with_gather_in_both_sides(tf, x):
    first, last = (lambda: tf.gather(x, [0, 1])), (lambda: tf.gather(x, [2]))
    return tf.reduce_sum(tf.cond(x[0, 0] > 0.0, first, last))


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def cond_with_gather_and_a_whole(tf, x):
    some = lambda: tf.reduce_sum(tf.gather(x, [1]))  # noqa: E731
    return tf.cond(x[0, 0] > 0.0, some, lambda: tf.reduce_sum(x * x))


@program([[1.0, 2.0], [3.0, 4.0]], True)
def cond_with_shapes_unknown(tf, x, p):
    x = tf.placeholder_with_default(x, [None, None])
    return tf.cond(p, lambda: tf.matmul(x, x) + x[:1], lambda: x)


# loops


@program(3.0)
def loop_power(tf, x):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, x])[1]


@program(3.0, 2.0)
def loop_of_two_variables(tf, x, u):
    def body(i, s, t):
        return i + 1, s * t + x, t + s * u

    _, s, t = tf.while_loop(lambda i, s, t: i < 4, body, [0, x, u])
    return s, t


@program(3.0, 2.0)
def loop_with_one_exit_used(tf, x, u):
    return tf.while_loop(lambda i, s, t: i < 3, lambda i, s, t: (i + 1, s * x, t * u), [0, x, u])[1]


@program(3.0, 2.0)
def loop_with_one_exit_used_that_needs_both(tf, x, u):
    return tf.while_loop(lambda i, s, t: i < 3, lambda i, s, t: (i + 1, s * t, t * u), [0, x, u])[1]


@program(3.0, 2.0)
def loop_of_no_rounds(tf, x, u):
    return tf.while_loop(lambda i, s: i < 0, lambda i, s: (i + 1, s * u), [0, x])[1]


@program([2.0, 3.0], 2.0)
def loop_of_no_rounds_with_a_shape(tf, x, u):
    return tf.while_loop(lambda i, s: i < 0, lambda i, s: (i + 1, s * u), [0, x])[1]


@program(3.0, 2.0)
def loop_whose_rounds_depend_on_values(tf, x, u):
    return tf.while_loop(lambda s: s < 100.0, lambda s: s * u + x, [x])


@program(3.0, 2.0)
def loop_variable_that_is_overwritten(tf, x, u):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, u * 1.0), [0, x])[1]


@program(3.0, 2.0)
def loop_variable_that_is_swapped(tf, x, u):
    s, t = tf.while_loop(lambda i, s, t: i < 3, lambda i, s, t: (i + 1, t, s * 2.0), [0, x, u])[1:]
    return s * 10.0 + t


@program(3.0)
def loop_variable_that_stays(tf, x):
    return tf.while_loop(lambda i, s, t: i < 3, lambda i, s, t: (i + 1, s * t, t), [0, 1.0, x])[1:]


@program(3.0)
def loop_stopped(tf, x):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.stop_gradient(s * x)), [0, x])[
        1
    ]


@program(3.0)
def loop_partly_stopped(tf, x):
    body = lambda i, s: (i + 1, tf.stop_gradient(s) * x)  # noqa: E731
    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


@program(3.0)
def loop_without_back_prop(tf, x):
    body = lambda i, s: (i + 1, s * x)  # noqa: E731
    return tf.while_loop(lambda i, s: i < 3, body, [0, x], back_prop=False)[1] + x


@program(3.0)
def loop_with_integers_between(tf, x):
    def body(i, s):
        return i + 1, s * x * tf.cast(i, tf.float32)

    return tf.while_loop(lambda i, s: i < 4, body, [1, x])[1]


@program(1.2)
def loop_one_round_at_a_time(tf, x):
    body = lambda i, s: (i + 1, tf.sin(s) * x)  # noqa: E731
    return tf.while_loop(lambda i, s: i < 7, body, [0, x], parallel_iterations=1)[1]


@program(1.25)
def loop_of_many_rounds(tf, x):
    return tf.while_loop(lambda i, s: i < 60, lambda i, s: (i + 1, tf.sin(s) + x), [0, x])[1]


@program([[0.1, 0.2], [0.3, 0.4]], [[1.0, 0.5], [0.25, 0.75]], [0.1, 0.2])
def loop_of_layers(tf, x, w, b):
    return tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + b)), [0, x]
    )[1]


@program([[1.0, 2.0]], 2.0)
def loop_with_shapes_unknown(tf, x, u):
    x = tf.placeholder_with_default(x, [None, None])

    def body(i, s):
        return i + 1, s * x * u + x[:1, :1]

    shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
    return tf.while_loop(lambda i, s: i < 3, body, [0, x], shape_invariants=shapes)[1]


@program([[1.0, 2.0]], 2.0)
def loop_whose_variable_grows(tf, x, u):
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    return tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, tf.concat([s, s * u], 0)), [0, x], shapes
    )[1]


@program([[1.0, 2.0]], 2.0)
def loop_whose_variable_grows_by_rank(tf, x, u):
    shapes = [tf.TensorShape([]), tf.TensorShape(None)]
    return tf.while_loop(
        lambda i, s: i < 2, lambda i, s: (i + 1, tf.expand_dims(s, 0) * u), [0, x], shapes
    )[1]


@program([1.0, 2.0, 3.0, 4.0])
def loop_over_elements(tf, x):
    return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x[i] + x[0]), [0, 1.0])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def loop_with_gather(tf, x):
    def body(i, s):
        return i + 1, s + tf.reduce_sum(tf.gather(x, [i, 0]) * s)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def loop_with_gather_of_a_variable(tf, x):
    def body(i, t):
        return i + 1, t * tf.reduce_sum(tf.gather(t, [i, 0]))

    return tf.while_loop(lambda i, t: i < 2, body, [0, x])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def loop_with_gather_and_a_whole(tf, x):
    def body(i, s):
        return i + 1, s + tf.reduce_sum(tf.gather(x, [i])) * s + tf.reduce_mean(x)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def loop_with_two_gathers(tf, x):
    def body(i, s):
        return i + 1, s + tf.reduce_sum(tf.gather(x, [i]) * tf.gather(x, [2 - i]) * s)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def loop_with_gather_of_no_rounds(tf, x):
    body = lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(x, [i])))  # noqa: E731
    return tf.while_loop(lambda i, s: i < 0, body, [0, 1.0])[1]


@program(3.0, 2.0)
def loop_of_variables_outside(tf, x, u):
    v = tf.Variable(2.0, name="v")
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * v + u), [0, x])[1]
    return [y, *alone(tf, tf.gradients(y, v))]


@program(3.0)
def loop_with_a_dict(tf, x):
    body = lambda i, d: (i + 1, {"s": d["s"] * x, "t": (d["t"][0] + d["s"],)})  # noqa: E731
    end = tf.while_loop(lambda i, d: i < 3, body, (0, {"s": x, "t": (1.0,)}))[1]
    return end["s"] * end["t"][0]


@program(3.0 + 1.0j)
def loop_of_complex(tf, x):
    y = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * x), [0, x])[1]
    return tf.real(y) * 2.0 + tf.imag(y)


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 2.0)
def gather_of_a_result(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * x), [0, x])[1]
    z = tf.cond(u > 1.0, lambda: (y * u, y[0]), lambda: (x, x[0]))[0]
    return tf.gather(y, [1, 1]) * tf.gather(z, [2, 0])


# one in the other


@program(3.0, 2.0)
def cond_in_loop(tf, x, u):
    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: s + u * x)

    return tf.while_loop(lambda i, s: i < 5, body, [0, x])[1]


@program(0.8, 0.7)
def cond_in_loop_whose_sides_compute(tf, x, u):
    def body(i, s):
        t = tf.sin(s) * u

        def often():
            a = t * s
            return a * x + tf.cos(a)

        return i + 1, tf.cond(s * u > 0.5, often, lambda: t + x * s)

    return tf.while_loop(lambda i, s: i < 6, body, [0, x])[1]


@program(3.0, 2.0)
def cond_in_loop_on_what_comes_from_outside(tf, x, u):
    p = x > u
    return tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, tf.cond(p, lambda: s * s, lambda: s * u)), [0, x]
    )[1]


@program(1.1, 0.6)
def cond_in_cond_in_loop(tf, x, u):
    def body(i, s):
        def inner():
            y = s * u
            return tf.cond(i > 2, lambda: y * tf.sin(y), lambda: y + x)

        return i + 1, tf.cond(i > 0, inner, lambda: s * s)

    return tf.while_loop(lambda i, s: i < 5, body, [0, x])[1]


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def cond_in_loop_with_gather(tf, x):
    def body(i, s):
        some = lambda: tf.reduce_sum(tf.gather(x, [i, 0]) * s)  # noqa: E731
        return i + 1, s + tf.cond(i > 0, some, lambda: s)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])[1]


@program([[1.0, 2.0], [3.0, 4.0]], 2.0)
def cond_in_loop_with_shapes_unknown(tf, x, u):
    x = tf.placeholder_with_default(x, [None, 2])

    def body(i, s):
        return i + 1, tf.cond(i < 1, lambda: tf.concat([s, x * u], 0), lambda: s * s)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    return tf.while_loop(lambda i, s: i < 3, body, [0, x], shapes)[1]


@program(3.0, 2.0)
def loop_in_cond(tf, x, u):
    loop = lambda: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x + u), [0, x])[1]  # noqa: E731
    return tf.cond(x > 2.0, loop, lambda: x * u)


@program(1.0, 2.0)
def loop_in_cond_that_is_not_taken(tf, x, u):
    loop = lambda: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x + u), [0, x])[1]  # noqa: E731
    return tf.cond(x > 2.0, loop, lambda: x * u)


@program(1.2, 0.7)
def loop_in_loop(tf, x, u):
    def body(i, s):
        inner = lambda j, t: (j + 1, t * x + u)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, t: j < 2, inner, [0, s])[1]

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


@program(1.2, 0.7)
def loop_in_loop_of_other_lengths(tf, x, u):
    def body(i, s):
        w = tf.sin(s)
        inner = lambda j, t: (j + 1, t * w + u * tf.cos(t))  # noqa: E731
        return i + 1, tf.while_loop(lambda j, t: j < i, inner, [0, s])[1] * x

    return tf.while_loop(lambda i, s: i < 4, body, [0, x])[1]


@program(1.2, 0.7)
def loop_in_loop_in_loop(tf, x, u):
    def inmost(k, r):
        return k + 1, r * x + tf.sin(r)

    def inner(j, t):
        return j + 1, tf.while_loop(lambda k, r: k < j, inmost, [0, t * u])[1]

    def body(i, s):
        return i + 1, tf.while_loop(lambda j, t: j < 3, inner, [0, s])[1]

    return tf.while_loop(lambda i, s: i < 2, body, [0, x])[1]


@program(1.2, 0.7)
def loop_in_cond_in_loop(tf, x, u):
    def body(i, s):
        inner = lambda j, t: (j + 1, t * s * x)  # noqa: E731
        loop = lambda: tf.while_loop(lambda j, t: j < i, inner, [0, s])[1]  # noqa: E731
        return i + 1, tf.cond(i > 0, loop, lambda: s * u)

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


@program(1.2, 0.7)
def cond_in_loop_in_cond_in_loop(tf, x, u):
    def inner(j, t):
        return j + 1, tf.cond(j > 0, lambda: t * x + tf.sin(t), lambda: t * u)

    def body(i, s):
        loop = lambda: tf.while_loop(lambda j, t: j < 3, inner, [0, s])[1]  # noqa: E731
        return i + 1, tf.cond(tf.equal(i, 1), lambda: s * s, loop)

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


@program(1.2, 0.7)
def cond_in_loop_in_loop(tf, x, u):
    def inner(j, t):
        return j + 1, tf.cond(t > 1.0, lambda: tf.sin(t) * x, lambda: t * u + x)

    def body(i, s):
        return i + 1, tf.while_loop(lambda j, t: j <= i, inner, [0, s])[1] * s

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


@program(1.2, 0.7)
def loop_after_loop(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, u])[1]
    return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * y + x), [0, y])[1]


@program(1.2, 0.7)
def loop_without_back_prop_in_loop(tf, x, u):
    def body(i, s):
        inner = lambda j, t: (j + 1, t * x + u)  # noqa: E731
        return i + 1, s * tf.while_loop(lambda j, t: j < 2, inner, [0, s], back_prop=False)[1]

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]


# arrays


@program([1.0, 2.0, 3.0])
def array_read_in_loop(tf, x):
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * array.read(i)), [0, 2.0])[1]


@program([1.0, 2.0, 3.0], 2.0)
def array_written_in_loop(tf, x, u):
    array = tf.TensorArray(tf.float32, 3)
    body = lambda i, a: (i + 1, a.write(i, x[i] * x[0] * u))  # noqa: E731
    return tf.while_loop(lambda i, a: i < 3, body, [0, array])[1].stack()


@program([1.0, 2.0, 3.0], 2.0)
def array_written_in_loop_that_grows(tf, x, u):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    body = lambda i, a: (i + 1, a.write(i, x[i] * u))  # noqa: E731
    return tf.while_loop(lambda i, a: i < 3, body, [0, array])[1].stack() * x


@program(
    [[[0.1, 0.2]], [[0.3, 0.4]], [[0.5, 0.6]]], [[0.5, 0.1], [0.2, 0.4]], [[0.3, 0.2], [0.1, 0.6]]
)
def array_of_inputs_and_outputs(tf, x, w, r):
    inputs = tf.TensorArray(tf.float32, 3).unstack(x)
    outputs = tf.TensorArray(tf.float32, 3)

    def body(i, state, out):
        state = tf.tanh(tf.matmul(inputs.read(i), w) + tf.matmul(state, r))
        return i + 1, state, out.write(i, state)

    _, state, out = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.zeros([1, 2]), outputs])
    return out.stack() * 2.0, state


@program([1.0, 2.0, 3.0], 2.0)
def array_read_in_cond_in_loop(tf, x, u):
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)

    def body(i, s):
        return i + 1, tf.cond(i > 0, lambda: s * array.read(i), lambda: s + u)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 2.0])[1]


@program([1.0, 2.0, 3.0], 2.0)
def array_read_in_loop_in_loop(tf, x, u):
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)

    def body(i, s):
        inner = lambda j, t: (j + 1, t * array.read(j) + u)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, t: j <= i, inner, [0, s])[1]

    return tf.while_loop(lambda i, s: i < 3, body, [0, 2.0])[1]


@program([1.0, 2.0, 3.0])
def array_made_in_loop(tf, x):
    def body(i, s):
        array = tf.TensorArray(tf.float32, 3).unstack(x * s)
        return i + 1, s + array.read(i) * array.read((i + 1) % 3)

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])[1]


@program([1.0, 2.0, 3.0])
def functions_of_arrays(tf, x):
    mapped = tf.map_fn(lambda e: e * e * x[0], x)
    folded = tf.foldl(lambda a, e: a * e + x[1], mapped)
    return folded, tf.scan(lambda a, e: a * e, mapped)


@program([[1.0, 2.0], [3.0, 4.0]])
def functions_in_functions(tf, x):
    return tf.map_fn(lambda row: tf.foldl(lambda a, e: a * e + e, row), x)


# called inside


@program(3.0)
def called_in_body(tf, x):
    z = x * 2.0

    def body(i, s, a):
        return i + 1, s + 1.0, a + tf.gradients(s * z * z, x)[0]

    return tf.while_loop(lambda i, *_: i < 3, body, [0, 1.0, 0.0])[2]


@program(3.0)
def called_in_body_for_its_variable(tf, x):
    def body(i, s):
        return i + 1, tf.gradients(s * s * s * x, s)[0] * 0.1

    return tf.while_loop(lambda i, s: i < 2, body, [0, 1.5])[1]


@program(3.0)
def called_in_body_for_a_cond(tf, x):
    def body(i, s):
        y = tf.cond(i > 0, lambda: s * s * x, lambda: s * x)
        return i + 1, s + tf.gradients(y, s)[0]

    return tf.while_loop(lambda i, s: i < 3, body, [0, 1.5])[1]


@program(1.2, 0.7)
def called_in_body_for_a_loop(tf, x, u):
    def body(i, s):
        y = tf.while_loop(lambda j, t: j < 3, lambda j, t: (j + 1, t * x), [0, s * u])[1]
        return i + 1, s + tf.gradients(y, s)[0]

    return tf.while_loop(lambda i, s: i < 2, body, [0, 1.0])[1]


@program(3.0, 2.0)
def called_in_branch(tf, x, u):
    return tf.cond(x > 2.0, lambda: tf.gradients(x * x * u, x)[0], lambda: u)


@program(3.0, 2.0)
def called_in_branch_for_what_is_outside(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, u])[1]
    return tf.cond(x > 2.0, lambda: alone(tf, tf.gradients(y, x))[0], lambda: u)


@program(3.0)
def called_in_body_for_a_cond_outside(tf, x):
    y = tf.cond(x > 2.0, lambda: x * x, lambda: x)
    body = lambda i, a: (i + 1, a + tf.gradients(y, x)[0])  # noqa: E731
    return tf.while_loop(lambda i, a: i < 3, body, [0, 0.0])[1]


@program(3.0)
def called_for_a_tensor_in_a_branch(tf, x):
    inside = []

    def side():
        inside.append(x * 2.0)
        return inside[0] * inside[0]

    y = tf.cond(x > 2.0, side, lambda: x)
    return y, tf.gradients(y, inside[0])[0]


@program(3.0)
def called_for_a_result_in_a_branch(tf, x):
    inside = []

    def side():
        inside.append(x * x)
        return inside[0] * 2.0

    y = tf.cond(x > 2.0, side, lambda: x)
    return y, tf.gradients(inside[0], x)[0]


@program(1.0)
def called_for_a_result_in_a_branch_that_is_not_taken(tf, x):
    inside = []

    def side():
        inside.append(x * x)
        return inside[0] * 2.0

    y = tf.cond(x > 2.0, side, lambda: x)
    return y, tf.gradients(inside[0], x)[0]


# options


@program(3.0, 2.0)
def starts_are_given(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, u])[1]
    z = tf.cond(x > 2.0, lambda: y * u, lambda: y)
    return alone(tf, tf.gradients([y, z], [x, u], grad_ys=[tf.constant(2.0), tf.constant(-1.0)]))


@program(3.0, 2.0)
def stops_at_results(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, u])[1]
    z = tf.cond(x > 2.0, lambda: y * u * x, lambda: y)
    return alone(tf, tf.gradients(z, [x, u, y], stop_gradients=[y]))


@program(3.0, 2.0)
def stops_inside(tf, x, u):
    inside = []

    def body(i, s):
        inside.append(s * u)
        return i + 1, inside[0] * x

    y = tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]
    return alone(tf, tf.gradients(y, x, stop_gradients=inside))


@program(3.0, 2.0)
def leaves_together(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x * u), [0, u])[1]
    z = tf.cond(x > 2.0, lambda: y * u * x, lambda: y)
    return alone(tf, tf.gradients(z, [x, u], gate_gradients=True, colocate_gradients_with_ops=True))


@program(3.0, 2.0)
def unconnected_are_zeros(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2.0), [0, u])[1]
    return alone(tf, tf.gradients(y, [x, u], unconnected_gradients=tf.UnconnectedGradients.ZERO))


# gradients of gradients


@program(3.0, 2.0)
def second_of_cond(tf, x, u):
    return tf.gradients(tf.cond(x > 2.0, lambda: x * x * x * u, lambda: x), x)[0]


@program(3.0, 2.0)
def second_of_cond_in_cond(tf, x, u):
    def outer():
        y = x * u
        return tf.cond(u > 3.0, lambda: y * x, lambda: y * y * tf.sin(y))

    return tf.gradients(tf.cond(x > 2.0, outer, lambda: x - u), x)[0]


@program(1.2, 0.7)
def second_of_loop(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * tf.sin(s) * x), [0, u])[1]
    return tf.gradients(y, [x, u])


@program(1.2, 0.7)
def third_of_loop(tf, x, u):
    y = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * s * x), [0, u])[1]
    return tf.gradients(tf.gradients(y, x)[0], u)


@program(1.2, 0.7)
def second_of_cond_in_loop(tf, x, u):
    def body(i, s):
        return i + 1, tf.cond(i > 0, lambda: s * s * x, lambda: tf.sin(s * u))

    return tf.gradients(tf.while_loop(lambda i, s: i < 3, body, [0, x])[1], x)[0]


@program(1.2, 0.7)
def second_of_loop_in_cond(tf, x, u):
    loop = lambda: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * s * x), [0, u])[1]  # noqa: E731
    return tf.gradients(tf.cond(x > 1.0, loop, lambda: x * u), x)[0]


@program(1.4, 1.2)
def second_of_loop_in_loop(tf, x, u):
    def body(i, s):
        inner = lambda j, t: (j + 1, t * tf.sin(t) * x)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, t: j <= i, inner, [0, s])[1]

    return tf.gradients(tf.while_loop(lambda i, s: i < 3, body, [0, u])[1], x)[0]


@program(1.4, 1.2)
def second_of_loop_in_cond_in_loop(tf, x, u):
    def body(i, s):
        inner = lambda j, t: (j + 1, t * tf.sin(t) * x)  # noqa: E731
        loop = lambda: tf.while_loop(lambda j, t: j < i, inner, [0, s])[1]  # noqa: E731
        return i + 1, tf.cond(i > 0, loop, lambda: s * s * u)

    return tf.gradients(tf.while_loop(lambda i, s: i < 3, body, [0, u])[1], x)[0]


@program([1.0, 2.0, 3.0])
def second_of_loop_over_elements(tf, x):
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x[i] + x[0]), [0, 1.0])[1]
    return tf.gradients(y, x)[0]


@program(1.2)
def gradient_of_a_loop_of_gradients(tf, x):
    """Steps of gradient descent, and how their end depends on where they began."""

    def body(i, w):
        return i + 1, w - 0.1 * tf.gradients(tf.sin(w) * w * x, w)[0]

    return tf.while_loop(lambda i, w: i < 4, body, [0, x])[1]


def inputs_of(tf, values):
    """Return a tensor for each value."""
    return [tf.placeholder_with_default(value, np.shape(value)) for value in map(plain, values)]


def plain(value):
    """Return a value as an array of the type that TensorFlow gives it."""
    array = np.asarray(value)
    short = {"float64": np.float32, "complex128": np.complex64, "int64": np.int32}
    return array.astype(short.get(array.dtype.name, array.dtype))


def build(tf, name):
    """Return a program's inputs, its results and its gradients in the graph, all flat."""
    function, values = PROGRAMS[name]
    xs = inputs_of(tf, values)
    results = function(tf, *xs)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    return xs, results, tf.gradients([each for each in results if each is not None], xs)


def outcome(tf, name):
    """Return a program's values and gradients as JSON holds them, or the class of its error."""
    with tf.Graph().as_default():
        try:
            _, results, gradients = build(tf, name)
        except Exception as error:
            return {"error": type(error).__name__}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fetches = [None if each is None else whole(tf, each) for each in results + gradients]
            try:
                made = session.run([each for each in fetches if each is not None])
            except Exception as error:
                return {"run_error": type(error).__name__}
        values = iter(made)
        made = [None if each is None else as_json(next(values)) for each in fetches]
        kinds = ["slices" if hasattr(each, "values") else "whole" for each in gradients]
        shapes = [static(each) for each in gradients]
        return {
            "values": made[: len(results)],
            "gradients": made[len(results) :],
            "kinds": kinds,
            "shapes": shapes,
        }


def static(gradient):
    """Return what is known of a gradient's shape."""
    if gradient is None or hasattr(gradient, "values"):
        return None
    shape = gradient.shape
    return None if shape.ndims is None else shape.as_list()


def whole(tf, result):
    """Return IndexedSlices as a tensor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tf.convert_to_tensor(result)


def as_json(value):
    """Return shape and elements of an array."""
    array = np.asarray(value)
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    return [list(array.shape), [float("%.9g" % each) for each in array.reshape(-1)]]  # noqa: UP031


def main():
    """Write what this Python's TensorFlow makes of all programs."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    json.dump({name: outcome(tf, name) for name in PROGRAMS}, sys.stdout)


def real(command):
    """Return what the TensorFlow that `command` runs makes of all programs."""
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def store(command):
    """Write the expectations that are compared with where no real TensorFlow is."""
    rows = [json.dumps(name) + ": " + json.dumps(row) for name, row in real(command).items()]
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        main()

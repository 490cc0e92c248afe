"""Functions whose `if`, `while` and `for` are about tensors; their values on 1.15.5 are stored.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. By itself it prints a JSON object: the value of each call, or the class of its error. To store
that:

    cd tests/ops/autograph
    PYTHON_THAT_HAS_1.15 autograph_programs.py > expected_autograph_1_15.json
"""

import json
import sys

import numpy as np

CALLS = {}  # name -> (maker of a function, arguments of its calls)


def called_with(*arguments):
    """Note what makes a function from TensorFlow, and arguments: tuples of what is fed."""

    def note(make):
        CALLS[make.__name__] = (make, [each if isinstance(each, tuple) else (each,)
                                       for each in arguments])  # fmt: skip
        return make

    return note


# branches


@called_with(3.0, -3.0)
def either_way(tf):
    def f(x):
        if x > 0:
            y = x * 2.0
        else:
            y = -x
        return y

    return f


@called_with(3.0, -3.0)
def no_else(tf):
    def f(x):
        y = x
        if x > 0:
            y = y * 10.0
        return y

    return f


@called_with(-1.0, 0.0, 5.0, 50.0)
def several_ways_return(tf):
    def f(x):
        if x < 0:
            return -x
        elif x > 10:
            return x / 10.0
        if x > 3:
            x = x + 1.0
            return x
        return x * 7.0

    return f


@called_with((True, 2.0), (False, 2.0))
def bool_tensors(tf):
    def f(flag, x):
        if not flag:
            x = x * x + 5.0
        return x

    return f


@called_with((1.0, 2.0), (2.0, 1.0))
def structures(tf):
    def f(a, b):
        pair = {"low": a, "high": (b, b)}
        if a > b:
            pair = {"low": b, "high": (a, a)}
        return pair["low"] * 100.0 + pair["high"][1]

    return f


@called_with(1.0, 3.0, 6.0)
def temporaries_of_one_branch(tf):
    def f(x):
        if x > 2:
            square = x * x
            result = square + 1.0
        else:
            result = x
        if result > 20:
            for_nothing = result  # noqa: F841
            result = result - 20.0
        return result

    return f


@called_with(1.0, 3.0)
def python_values_that_agree(tf):
    def f(x):
        kind = None
        if x > 2:
            kind = "one"
            x = x + 1.0
        else:
            kind = "one"
        return x * (2.0 if kind == "one" else 3.0)

    return f


@called_with(1.0, 3.0)
def value_in_one_branch_only(tf):
    def f(x):
        if x > 2:
            y = x
        return y

    return f


@called_with(2.0)
def decided_by_python(tf):
    def f(x, mode="double"):
        if mode == "double":
            return x * 2.0
        else:
            raise ValueError(mode)

    return f


@called_with((1.0, 2.0), (3.0, 2.0), (3.0, 9.0))
def boolean_operators(tf):
    def f(a, b):
        both = a > 2 and b < 5
        any_ = a > 2 or b < 5
        if both and not (a == b):
            return 1.0
        elif any_:
            return 2.0
        return 3.0

    return f


@called_with(1.0, 2.5, 9.0)
def chained_comparison(tf):
    def f(x):
        return tf.constant(1) if 2.0 < x < 3.0 else tf.constant(0)

    return f


@called_with(2, 3)
def equality(tf):
    def f(x):
        if x == 2:
            return x * 10
        if x != 3:
            return x * 100
        return x

    return f


@called_with(2.0, -2.0)
def lambdas(tf):
    return lambda x: x * 3.0 if x > 0 else x * 5.0


@called_with(4.0, -4.0)
def nested_functions(tf):
    factor = 2.0

    def f(x):
        def scaled(value):
            if value > 0:
                return value * factor
            return value / factor

        return scaled(x) + scaled(-x)

    return f


def magnitude(x):
    if x > 0:
        return x
    return -x


@called_with(4.0, -4.0)
def functions_that_are_called(tf):
    def f(x):
        return magnitude(x) + magnitude(x - 3.0)

    return f


class Scaler:
    def __init__(self, factor):
        self.__factor = factor

    def scale(self, x):
        while x < 100:
            x = x * self.__factor
        return x


@called_with(4.0, 1000.0)
def methods(tf):
    return Scaler(3.0).scale


# loops


@called_with(0, 5)
def counting(tf):
    def f(n):
        i, total = 0, 0
        while i < n:
            total += i * i
            i += 1
        return total

    return f


@called_with(100, 3)
def break_and_continue(tf):
    def f(n):
        i, total = 0, 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 20:
                break
            total += i
        return total * 1000 + i

    return f


@called_with([1.0, 2.0, 3.0], [-1.0])
def over_a_tensor(tf):
    def f(items):
        total = 0.0
        for item in items:
            total += item * 2.0
        return total

    return f


@called_with([[1.0, 2.0], [3.0, 4.0]])
def over_rows(tf):
    def f(rows):
        found = tf.zeros([2])
        for row in rows:
            if row[0] > 2.0:
                found += row
            else:
                found -= row
        return found

    return f


@called_with([1.0, 2.0, 30.0, 4.0])
def break_out_of_a_tensor(tf):
    def f(items):
        total = 0.0
        for item in items:
            if item > 10.0:
                break
            total += item
        return total

    return f


@called_with(0, 1, 6)
def over_a_range(tf):
    def f(n):
        product = 1
        for i in range(1, n):
            product *= i
        return product

    return f


@called_with(3, 4)
def loops_in_loops(tf):
    def f(n):
        total = 0
        for i in range(n):
            j = 0
            while j < i:
                if j == 2:
                    break
                total += 1
                j += 1
        return total

    return f


@called_with(5.0)
def over_python_lists(tf):
    def f(x):
        for name, factor in [("a", 2.0), ("b", -3.0), ("c", 1.0)]:
            if name == "c":
                continue
            if x > 0:
                x = x * factor
        return x

    return f


@called_with(4, 0)
def tensor_arrays(tf):
    def f(n):
        squares = tf.TensorArray(tf.int32, size=n)
        for i in range(n):
            squares = squares.write(i, i * i)
        return tf.reduce_sum(squares.stack())

    return f


@called_with(27, 1)
def collatz(tf):
    def f(n):
        count = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    return f


@called_with((48, 36), (7, 5))
def several_variables_at_once(tf):
    def f(a, b):
        while b > 0:
            a, b = b, a % b
        return a

    return f


@called_with(3)
def variable_of_a_loop_only(tf):
    def f(n):
        i = 0
        while i < n:
            last = i
            i += 1
        return last

    return f


@called_with(3)
def unrolled(tf):
    def f(x):
        total = 0
        for i in range(4):
            if x > i:
                total += i
        return total

    return f


@called_with([3, 1, 2])
def bubble_sort(tf):
    def f(items):
        n = len(items)
        for i in tf.range(n):
            for j in tf.range(n - i - 1):
                if items[j] > items[j + 1]:
                    items = tf.where(
                        tf.equal(tf.range(n), j), tf.fill([n], items[j + 1]),
                        tf.where(tf.equal(tf.range(n), j + 1), tf.fill([n], items[j]), items),
                    )  # fmt: skip
        return items

    return f


# what Python has besides


@called_with(3, 0)
def assertions(tf):
    def f(x):
        assert x > 0, "not above zero"
        return x * 2

    return f


@called_with([1.0, 2.0, 3.0])
def lengths(tf):
    def f(items):
        return len(items) * 10 + int(tf.reduce_sum(items))

    return f


@called_with(2.0, -2.0)
def in_a_scope(tf):
    def f(x):
        with tf.name_scope("scope"):
            if x > 0:
                x = x + 1.0
            return x * 2.0

    return f


@called_with(2.0, -2.0)
def try_and_finally(tf):
    def f(x):
        log = []
        try:
            if x > 0:
                x = x + 1.0
            else:
                x = x - 1.0
        finally:
            log.append(1)
        return x * len(log)

    return f


@called_with(2.0, -2.0)
def comprehensions(tf):
    def f(x):
        parts = [each * x for each in (1.0, 2.0, 3.0)]
        total = 0.0
        for each in parts:
            if each > 3:
                total += each
        return total

    return f


@called_with(2.0)
def starred(tf):
    def f(*values, **options):
        total, scale = 0.0, options.get("scale", 2.0)
        for value in values:
            if value > 1:
                total += value
        return total * scale

    return f


@called_with(2.0)
def generators_stay(tf):
    def numbers(n):
        for i in range(n):
            yield float(i)

    def f(x):
        for number in numbers(4):
            x = x + number
        return x

    return f


# by what they are run: a function of (tf, function, arguments) that returns a tensor


def by_to_graph(tf, function, arguments):
    return tf.autograph.to_graph(function)(*arguments)


def by_function(tf, function, arguments):
    return tf.function(function)(*arguments)


def by_map(tf, function, arguments):
    data = tf.data.Dataset.from_tensors(tuple(arguments)).map(function)
    return tf.data.make_initializable_iterator(data)


WAYS = {each.__name__: each for each in (by_to_graph, by_function, by_map)}


def outcome(tf, name, way, values):
    """Return the value that comes of a call as lists, or the class of its error."""
    make, _ = CALLS[name]
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            given = [np.array(each, np.float32 if _has_floats(each) else None) for each in values]
            given = [each.astype(np.int32) if each.dtype == np.int64 else each for each in given]
            fed = [tf.placeholder_with_default(each, each.shape) for each in given]
            result = WAYS[way](tf, make(tf), fed)
            if way == "by_map":
                session.run(result.initializer)
                result = result.get_next()
            return np.asarray(session.run(result)).tolist()
    except Exception as error:
        return type(error).__name__


def _has_floats(value):
    return np.asarray(value).dtype.kind == "f"


def outcomes(tf):
    """Return what comes of all calls: name -> way -> a value for each call."""
    return {
        name: {way: [outcome(tf, name, way, values) for values in calls] for way in WAYS}
        for name, (_, calls) in CALLS.items()
    }


if __name__ == "__main__":
    import tensorflow as tf

    json.dump(outcomes(tf.compat.v1), sys.stdout, indent=1)

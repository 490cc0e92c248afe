"""What assertions say, when they say it, and what waits for them.

Which of them hold, and the classes of errors, are compared with TensorFlow's in
`tests/ops/calls.py`; the words, and the names of nodes, are those of TensorFlow 1.15.5.
"""

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def fed(*values, dtype=tf.int32):
    """Return placeholders, of which nothing is known, and what to feed."""
    tensors = [tf.placeholder(dtype) for _ in values]
    return tensors, dict(zip(tensors, values, strict=True))


def run(fetch, feeds):
    with tf.Session() as session:
        return session.run(fetch, feeds)


def words(fetch, feeds):
    """Return the message with which an assertion fails as it runs."""
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        run(fetch, feeds)
    return raised.value.message


# relations

# name, symbol, values that fulfil it, values that do not
RELATIONS = [
    ("equal", "==", ([1, 2], [1, 2]), ([1, 2], [1, 3])),
    ("none_equal", "!=", ([1, 2], [2, 1]), ([1, 2], [3, 2])),
    ("less", "<", ([1, 2], 3), ([1, 2], 2)),
    ("less_equal", "<=", ([1, 2], 2), ([1, 2], 1)),
    ("greater", ">", ([1, 2], 0), ([1, 2], 1)),
    ("greater_equal", ">=", ([1, 2], 1), ([1, 2], 2)),
]
RELATED = pytest.mark.parametrize(
    ("name", "symbol", "good", "bad"), RELATIONS, ids=[row[0] for row in RELATIONS]
)


@RELATED
def test_a_relation_of_known_values_fails_at_once(name, symbol, good, bad):
    check = getattr(tf, f"assert_{name}")
    assert run(check(*good), {}) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        check(*map(tf.constant, bad), message="so it is")
    x, y = (f"{np.array(value)}" for value in bad)
    assert raised.value.message.splitlines() == [
        "so it is", f"Condition x {symbol} y did not hold element-wise:",
        "x (Const:0) = ", x, "y (Const_1:0) = ", y,
    ]  # fmt: skip


@RELATED
def test_a_relation_of_fed_values_fails_as_it_runs(name, symbol, good, bad):
    check = getattr(tf, f"assert_{name}")
    (x, y), feeds = fed(*good)
    checked = check(x, y, message="so it is")
    assert run(checked, feeds) is None
    x_value, y_value = (f"[{' '.join(map(str, np.ravel(value)))}]" for value in bad)
    assert words(checked, dict(zip(feeds, bad, strict=True))) == (
        f"assertion failed: [so it is] [Condition x {symbol} y did not hold element-wise:] "
        f"[x (Placeholder:0) = ] {x_value} [y (Placeholder_1:0) = ] {y_value}"
    )


def test_data_is_shown_instead_and_summarized():
    (x, y, z), feeds = fed([1, 2], [1, 3], [7, 8, 9])
    checked = tf.assert_equal(x, y, data=["z is", z], summarize=2, message="oh")
    assert words(checked, feeds) == "assertion failed: [oh] [z is] [7 8...]"
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.assert_equal(1, 2, data=["z is", z, tf.constant([3, 4])])
    assert raised.value.message == "z is\nPlaceholder_2:0\n[3 4]"


def test_shapes_broadcast_and_nothing_fulfils_everything():
    (x,), feeds = fed(np.zeros([0, 3], np.int32))
    assert run(tf.assert_less(x, [-1, -1, -1]), feeds) is None
    assert run(tf.assert_equal([[1, 2], [1, 2]], [1, 2]), {}) is None


def test_a_variable_is_read():
    v = tf.Variable([1.0, 2.0])
    checked = tf.assert_less(v, 2.0)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value Variable"):
            session.run(checked)
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"x \(Variable/read:0\) = "):
            session.run(checked)


def test_something_waits_for_it():
    (x,), feeds = fed([1, 0])
    with tf.control_dependencies([tf.assert_positive(x, message="must be")]):
        y = tf.identity(x)
    assert words(y, feeds).startswith("assertion failed: [must be] [Condition x > 0")
    assert run(y, {x: [1, 2]}).tolist() == [1, 2]


SIGNS = [
    ("positive", ">", [1, 2], [1, 0]),
    ("negative", "<", [-1, -2], [-1, 0]),
    ("non_negative", ">=", [0, 2], [0, -2]),
    ("non_positive", "<=", [0, -2], [0, 2]),
]


@pytest.mark.parametrize(("name", "symbol", "good", "bad"), SIGNS, ids=[row[0] for row in SIGNS])
def test_signs(name, symbol, good, bad):
    check = getattr(tf, f"assert_{name}")
    assert run(check(good), {}) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        check(bad, name="n", message="so it is")
    newline = "" if symbol == "<=" else "\n"  # as in TensorFlow, where one assertion differs
    assert raised.value.message == (
        f"so it is\nCondition x {symbol} 0 did not hold element-wise:{newline}x (n/x:0) = \n"
        f"{np.array(bad)}"
    )
    (x,), feeds = fed(bad)
    between = "" if symbol == "<=" else "] ["
    assert words(check(x), feeds) == (
        f"assertion failed: [] [Condition x {symbol} 0 did not hold element-wise:{between}"
        f"x (Placeholder:0) = ] [{bad[0]} {bad[1]}]"
    )
    assert words(check(x, data=["only this"]), feeds) == "assertion failed: [only this]"


def test_near_tells_its_tolerance():
    (x, y), feeds = fed([1.0, 2.0], [1.0, 2.1], dtype=tf.float32)
    assert words(tf.assert_near(x, y), feeds) == (
        "assertion failed: [] [x and y not equal to tolerance rtol = 1.1920929e-06, atol = "
        "1.1920929e-06] [x (Placeholder:0) = ] [1 2] [y (Placeholder_1:0) = ] [1 2.1]"
    )
    assert run(tf.assert_near(x, y, rtol=0.05), feeds) is None
    assert run(tf.assert_near(x, y, atol=tf.constant(0.11)), feeds) is None


@pytest.mark.parametrize(
    ("dtype", "apart"),
    [("float16", 0.03), ("bfloat16", 0.2), ("float32", 3e-6), ("float64", 5e-15),
     ("complex64", 3e-6), ("complex128", 5e-15)],
)  # fmt: skip
def test_near_fits_the_type(dtype, apart):
    """Ten times the distance of 1 to the next number, relative and absolute."""
    x = tf.constant(1.0, dtype)
    assert run(tf.assert_near(x, tf.cast(tf.constant(1 + apart / 4, "float64"), dtype)), {}) is None
    far = tf.assert_near(x, tf.cast(tf.constant(1 + apart, "float64"), dtype))
    assert words(far, {}).startswith("assertion failed: [] [x and y not equal to tolerance")


def test_near_takes_no_integers():
    with pytest.raises(ValueError, match=r"compares floats.*assert_equal compares integers"):
        tf.assert_near([1], [1])


def test_all_finite():
    (x,), feeds = fed([1.0, np.inf], dtype=tf.float32)
    for check in (tf.verify_tensor_all_finite, tf.debugging.assert_all_finite):
        assert words(check(x, "loss"), feeds) == "loss : Tensor had Inf values"
        assert words(check(x=x, message="loss"), feeds) == "loss : Tensor had Inf values"
        assert run(check(x, "loss"), {x: [1.0]}).tolist() == [1.0]


# ranks


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        pytest.param(lambda x: tf.assert_rank(x, 2), "rank 2", id="rank"),
        pytest.param(lambda x: tf.assert_rank_at_least(x, 2), "rank at least 2", id="at least"),
        pytest.param(lambda x: tf.assert_rank_in(x, (0, 2)), "rank in (0, 2)", id="in"),
    ],
)
def test_a_known_rank_fails_at_once(check, wanted):
    assert run(check([[1]]), {}) is None
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the whole text is compared
        check(tf.placeholder(tf.int32, [None]))
    assert str(raised.value) == (
        f"Tensor Placeholder:0 must have {wanted}.  Received rank 1, shape (?,)"
    )


@pytest.mark.parametrize(
    ("check", "shown"),
    [
        pytest.param(lambda x, n: tf.assert_rank(x, n, message="m"), "rank] [2]", id="rank"),
        pytest.param(
            lambda x, n: tf.assert_rank_at_least(x, n, message="m"), "rank at least] [2]",
            id="at least",
        ),
        pytest.param(
            lambda x, n: tf.assert_rank_in(x, (0, n), message="m"), "rank in] [0] [2]", id="in"
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("known", [True, False], ids=["constant rank", "fed rank"])
def test_an_unknown_rank_fails_as_it_runs(check, shown, known):
    (x, n), feeds = fed([5, 6, 7], 2)
    checked = check(x, 2 if known else n)
    assert run(checked, feeds | {x: [[1]]}) is None
    assert words(checked, feeds) == (
        f"assertion failed: [m] [Tensor Placeholder:0 must have {shown} [Received shape: ] [3]"
    )


def test_a_rank_is_an_int32_scalar():
    with pytest.raises(
        TypeError, match=r"assert_rank/rank:0 must be of type int32, but is float32"
    ):
        tf.assert_rank([1], 1.0)
    with pytest.raises(ValueError, match="Rank must be a scalar"):
        tf.assert_rank_in([1], [1, [2]])
    (x, n), feeds = fed([1], [1, 1])
    for check in (tf.assert_rank(x, n), tf.assert_rank_in(x, [n])):
        message = words(check, feeds)
        assert message == "assertion failed: [Rank must be a scalar. Received rank: ] [1 1]"


def test_a_scalar_is_given_back():
    x = tf.constant(3)
    assert tf.assert_scalar(x) is x
    assert tf.assert_scalar(3, name="nm").name == "nm:0"
    with pytest.raises(ValueError, match=r"^m\.  Expected scalar shape for .*, saw shape: \(1,\)"):
        tf.assert_scalar([1], message="m")


# types


def test_types_are_told():
    x = tf.constant(1.0, name="x")
    with pytest.raises(TypeError, match=r"^m  x:0 must be of type int32, but is float32$"):
        tf.assert_type(x, tf.int32, "m")
    with pytest.raises(TypeError, match=r'^Expected "x" to be integer type\.  Found: x:0 of dtype'):
        tf.assert_integer(x)
    with pytest.raises(
        ValueError,
        match=r"y:0, type=<dtype: 'float64'>, must be of the same type .*float32.* as x:0",
    ):
        tf.assert_same_float_dtype([x, tf.constant(1.0, tf.float64, name="y")])
    with pytest.raises(
        ValueError, match=r"x:0, type=<dtype: 'float32'>, must be of the same type .*float64"
    ):
        tf.assert_same_float_dtype([x], "float64")
    with pytest.raises(ValueError, match="Expected floating point type, got int32"):
        tf.assert_same_float_dtype(dtype=tf.int32)


def test_variables_have_types_too():
    v = tf.Variable(1.0)
    assert tf.assert_same_float_dtype([v, None, tf.constant(2.0)]) is tf.float32
    assert tf.assert_type(v, "float32").type == "NoOp"
    assert not tf.is_numeric_tensor(v)


NUMERIC = [tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.uint16, tf.int64, tf.complex64]


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda dtype: dtype.name)
def test_numbers_are_numeric(dtype):
    assert tf.is_numeric_tensor(tf.placeholder(dtype))


@pytest.mark.parametrize("other", [tf.string, tf.bool], ids=lambda dtype: dtype.name)
def test_others_are_not(other):
    assert not tf.is_numeric_tensor(tf.placeholder(other))


@pytest.mark.parametrize(
    "values", [[1], (), {"a": 1}, {1}, iter([1])], ids=lambda v: type(v).__name__
)
def test_proper_iterables(values):
    assert tf.assert_proper_iterable(values) is None


@pytest.mark.parametrize("values", ["a", b"a", np.ones(2), tf.float32, 5, None])
def test_improper_iterables(values):
    with pytest.raises(TypeError, match=r'Expected argument "values" to be .*Found: <class'):
        tf.assert_proper_iterable(values)


def test_neither_tensor_nor_variable_is_iterated_over():
    for values in (tf.constant([1]), tf.Variable([1])):
        with pytest.raises(TypeError, match='"proper" iterable'):
            tf.assert_proper_iterable(values)


# order


@pytest.mark.parametrize(
    ("values", "dtype", "non_decreasing", "increasing"),
    [
        ([], tf.float32, True, True),
        ([5], tf.int32, True, True),
        ([1, 2, 4], tf.int64, True, True),
        ([[1, 1], [2, 3]], tf.int32, True, False),
        ([1, 3, 2], tf.float64, False, False),
        ([2, 1], tf.uint8, False, False),
        ([-np.inf, 0, np.inf, np.inf], tf.float32, True, False),
        ([0, np.nan, 1], tf.float32, False, False),
    ],
)
def test_order(values, dtype, non_decreasing, increasing):
    """Of unsigned and infinite numbers too, whose differences mislead."""
    (x,), feeds = fed(values, dtype=dtype)
    assert run(tf.is_non_decreasing(x), feeds) == non_decreasing
    assert run(tf.math.is_strictly_increasing(x), feeds) == increasing


# names


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda x: tf.assert_less(x, 1), "assert_less/Assert/Assert"),
        (lambda x: tf.assert_less(x, 1, name="n"), "n/Assert/Assert"),
        (lambda x: tf.assert_equal(x, 1), "assert_equal_1/Assert/Assert"),
        (lambda x: tf.assert_equal(x, 1, name="n"), "n_1/Assert/Assert"),
        (lambda x: tf.assert_equal(x, x), "assert_equal/NoOp"),
        (lambda x: tf.assert_none_equal(x, 1), "assert_none_equal/Assert/Assert"),
        (lambda x: tf.assert_positive(x), "assert_positive/assert_less/Assert/Assert"),
        (lambda x: tf.assert_negative(x, name="n"), "n/assert_less/Assert/Assert"),
        (lambda x: tf.assert_non_negative(x),
         "assert_non_negative/assert_less_equal/Assert/Assert"),
        (lambda x: tf.assert_rank(x, 1), "assert_rank/Assert/Assert"),
        (lambda x: tf.assert_rank([1], 1), "assert_rank/static_checks_determined_all_ok"),
        (lambda x: tf.assert_rank_in(x, [1]), "assert_rank_in/Assert/Assert"),
        (lambda x: tf.assert_type(x, "int32", name="n"), "n/statically_determined_correct_type"),
        (lambda x: tf.is_non_decreasing(x), "is_non_decreasing/All:0"),
    ],
)  # fmt: skip
def test_nodes_have_tensorflows_names(make, name):
    """As those are whose data are strings and int32: others stand behind a cond there."""
    assert make(tf.placeholder(tf.int32)).name == name


def test_debugging_is_where_they_live_later():
    for name in ("assert_equal", "assert_rank_in", "assert_scalar", "is_numeric_tensor"):
        assert getattr(tf.debugging, name) is getattr(tf, name)
    assert tf.debugging.check_numerics is tf.check_numerics
    assert tf.compat.v1.debugging is tf.debugging

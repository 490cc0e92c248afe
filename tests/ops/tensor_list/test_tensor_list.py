"""Lists of tensors: what their ops give and refuse, gradients, sharing, and how lists cross.

Values, and the words of errors, are those of TensorFlow 1.15.5 and 2.21; graphs that these made
with lists are in `test_functions`.
"""

import random
import tracemalloc

import numpy as np
import pytest

import tfdist as tf
from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.ops.functions.calls import Optional
from tfdist.ops.tensor_list.list_value import TensorList
from tfdist.ops.tensor_list.persistent_elements import Elements
from tfdist.wire.codec.tensors import decoded, encoded

F, I = "float32", "int32"  # noqa: E741
ANY = -1  # a shape of which nothing is known


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


# the ops, as the tables below call them


def shape(dims):
    return dims if isinstance(dims, tf.Tensor) else np.array(dims, np.int32)


def unknown(value, dims=None):
    return tf.placeholder_with_default(value, dims)


def empty(dims=(), dtype=F, most=-1):
    return raw.EmptyTensorList(shape(dims), most, element_dtype=dtype)


def reserve(count, dims=(), dtype=F):
    return raw.TensorListReserve(shape(dims), count, element_dtype=dtype)


def of(*values, dims=ANY):
    return raw.TensorListFromTensor(tf.convert_to_tensor(list(values)), shape(dims))


def push(handle, value):
    return raw.TensorListPushBack(handle, tf.convert_to_tensor(value))


def ragged():
    """Return a list of vectors of lengths 1 and 2."""
    return push(push(empty(ANY), [1.0]), [2.0, 3.0])


def pop(handle, dims=ANY, dtype=F):
    return raw.TensorListPopBack(handle, shape(dims), element_dtype=dtype)


def popped(handle, dims=ANY, dtype=F):
    return pop(handle, dims, dtype)[1]


def get(handle, index, dims=ANY, dtype=F):
    return raw.TensorListGetItem(handle, index, shape(dims), element_dtype=dtype)


def put(handle, index, item, **attrs):
    return raw.TensorListSetItem(handle, index, tf.convert_to_tensor(item), **attrs)


def length(handle):
    return raw.TensorListLength(handle)


def element_shape(handle, dtype=I):
    return raw.TensorListElementShape(handle, shape_type=dtype)


def resize(handle, size):
    return raw.TensorListResize(handle, size)


def stack(handle, dims=ANY, dtype=F, count=-1):
    return raw.TensorListStack(handle, shape(dims), element_dtype=dtype, num_elements=count)


def gather(handle, indices, dims=ANY, dtype=F):
    return raw.TensorListGather(handle, indices, shape(dims), element_dtype=dtype)


def scatter(values, indices, count=None, dims=()):
    values = tf.convert_to_tensor(values)
    if count is None:
        return raw.TensorListScatter(values, indices, shape(dims))
    return raw.TensorListScatterV2(values, indices, shape(dims), count)


def scatter_into(handle, values, indices):
    return raw.TensorListScatterIntoExistingList(handle, tf.convert_to_tensor(values), indices)


def concat(handle, dims=ANY, leads=(), dtype=F):
    leads = np.array(leads, np.int64)
    return raw.TensorListConcatV2(handle, shape(dims), leads, element_dtype=dtype)


def old_concat(handle, dims=None):
    return raw.TensorListConcat(handle, element_dtype=F, element_shape=dims)


def split(values, lengths, dims=ANY):
    lengths = np.array(lengths, np.int64)
    return raw.TensorListSplit(tf.convert_to_tensor(values), shape(dims), lengths)


def push_batch(handles, values):
    return raw.TensorListPushBackBatch(handles, tf.convert_to_tensor(values))


def joined(first, second, dtype=F):
    return raw.TensorListConcatLists(first, second, element_dtype=dtype)


def zeros(handle):
    return raw.ZerosLike(handle)


def total(*handles):
    return raw.AddN(list(handles))


def lists(*handles):
    return tf.stack(list(handles))


# (expression, its values)
VALUES = [
    ("length(empty())", 0),
    ("length(push(empty(most=1), 1.0))", 1),
    ("stack(push(push(empty(), 1.0), 2.0))", [1, 2]),
    ("stack(push(push(empty(), 1.0), 2.0), (), count=2)", [1, 2]),
    ("stack(empty())", []),
    ("tf.shape(stack(empty([-1, 2]), [3, 2]))", [0, 3, 2]),
    ("popped(push(empty(ANY), 1.0))", 1),
    ("popped(push(empty(ANY), 1.0), [2])", 1),
    ("stack(push(pop(of(1.0, 2.0, 3.0))[0], 5.0))", [1, 2, 5]),
    ("popped(reserve(2))", 0),
    ("popped(reserve(2, ANY), [2])", [0, 0]),
    ("length(pop(reserve(2))[0])", 1),
    ("get(reserve(2), 0)", 0),
    ("get(reserve(2, [-1]), 0, [3])", [0, 0, 0]),
    ('get(reserve(2, (), "string"), 0, dtype="string")', b""),
    ("get(of(1.0, 2.0), 1)", 2),
    ("get(of(1.0, 2.0), [1])", 2),
    ("stack(put(reserve(2), 1, 1.0))", [0, 1]),
    ("stack(put(reserve(2, ANY), 1, [1.0, 2.0]))", [[0, 0], [1, 2]]),
    ("get(put(reserve(2, ANY), 1, [1.0, 2.0]), 0)", [0, 0]),
    ("length(put(reserve(2), 40, 1.0, resize_if_index_out_of_bounds=True))", 41),
    ("stack(put(reserve(1), 2, 1.0, resize_if_index_out_of_bounds=True))", [0, 0, 1]),
    ("stack(reserve(2, ANY), [2])", [[0, 0], [0, 0]]),
    ("element_shape(empty([-1, 2]))", [-1, 2]),
    ('element_shape(empty(ANY), "int64")', -1),
    ("element_shape(empty())", []),
    ("gather(of(1.0, 2.0, 3.0), [2, 0, 2])", [3, 1, 3]),
    ("gather(of(1.0, 2.0, 3.0), [[2, 1]])", [3, 2]),
    ("gather(of(1.0, 2.0, 3.0), 2)", [3]),
    ("tf.shape(gather(reserve(3, ANY), np.zeros(0, np.int32), [2]))", [0, 2]),
    ("gather(reserve(3, [2]), [0, 1])", [[0, 0], [0, 0]]),
    ("gather(put(reserve(3, ANY), 1, [1.0, 2.0]), [0, 1])", [[0, 0], [1, 2]]),
    ("gather(put(reserve(3, ANY), 1, [1.0, 2.0]), [0, 2])", [[0, 0], [0, 0]]),
    ("stack(scatter([1.0, 2.0], [1, 3]))", [0, 1, 0, 2]),
    ("stack(scatter([1.0, 2.0], [1, 1]))", [0, 2]),
    ("stack(scatter([1.0, 2.0], [1, 0], 3))", [2, 1, 0]),
    ("stack(scatter([1.0, 2.0], [1, 0], -1))", [2, 1]),
    ("stack(scatter_into(reserve(3), [1.0, 2.0], [2, 0]))", [2, 0, 1]),
    ("stack(scatter_into(of(1.0, 2.0), [5.0, 6.0], [0, 3]))", [5, 2, 0, 6]),
    ("concat(ragged())", [1, 2, 3], [1, 2]),
    ("concat(empty([-1, 2]))", [], []),
    ("concat(empty(ANY), [3, 2])", [], []),
    ("concat(reserve(2, [1, 2]))", [[0, 0], [0, 0]], [1, 1]),
    ("concat(reserve(2, [-1]), leads=[1, 2])", [0, 0, 0], [1, 2]),
    ("concat(put(reserve(2, ANY), 0, [1.0, 2.0]))", [1, 2, 0, 0], [2, 2]),
    ("concat(put(reserve(2, ANY), 0, [1.0, 2.0]), leads=[1, 1])", [1, 2, 0], [2, 1]),
    ("concat(raw.TensorListFromTensor(tf.zeros([2, 0]), ANY))", [], [0, 0]),
    ("old_concat(ragged())", [1, 2, 3], [1, 2]),
    ("old_concat(ragged(), [2])", [1, 2, 3], [1, 2]),
    ("stack(split([1.0, 2.0, 3.0, 4.0], [2, 2]))", [[1, 2], [3, 4]]),
    ("concat(split([1.0, 2.0, 3.0], [1, 0, 2], [-1]))", [1, 2, 3], [1, 0, 2]),
    ("stack(joined(push(empty(), 1.0), of(2.0, 3.0, dims=())))", [1, 2, 3]),
    ("length(joined(lists(empty(), empty()), lists(empty(), empty()))[1])", 0),
    ("stack(push_batch(lists(empty(), push(empty(), 5.0)), [1.0, 2.0])[1])", [5, 2]),
    ("stack(resize(of(1.0, 2.0, 3.0), 2))", [1, 2]),
    ("stack(resize(of(1.0, 2.0), 20))", [1, 2, *[0] * 18]),
    ("stack(total(of(1.0, 2.0), of(3.0, 4.0)))", [4, 6]),
    ("stack(total(of(1.0, 2.0), of(3.0, 4.0), reserve(2, ANY)))", [4, 6]),
    ("element_shape(total(of(1.0), of(1.0, dims=())))", []),
    ("stack(zeros(of([1.0, 2.0], [3.0, 4.0])))", [[0, 0], [0, 0]]),
    ("stack(zeros(reserve(2, [1])))", [[0], [0]]),
    ("stack(tf.zeros_like(of(1.0)))", [0]),
    ("stack(tf.gather(lists(push(empty(), 4.0), push(empty(), 5.0)), 1))", [5]),
    ("stack(tf.identity(push(empty(), 4.0)))", [4]),
    ('stack(of("a", "b"), dtype="string")', [b"a", b"b"]),
    ('stack(push(empty(dtype="string"), "a"), dtype="string")', [b"a"]),
    ('stack(push(empty(dtype="string"), tf.as_string(1)), dtype="string")', [b"1"]),
    ('concat(of(["a"], ["b"]), dtype="string")', [b"a", b"b"], [1, 1]),
    ('stack(popped(push(empty(dtype="variant"), of(4.0)), dtype="variant"))', [4]),
    ('stack(get(zeros(push(empty(dtype="variant"), of(4.0))), 0, dtype="variant"))', [0]),
    ("stack(tf.cond(unknown(True, []), lambda: of(4.0), lambda: of(5.0)))", [4]),
]


@pytest.mark.parametrize(
    ("expression", "wanted"), [pytest.param(each[0], each[1:], id=each[0]) for each in VALUES]
)
def test_values(expression, wanted):
    found = eval(expression)
    found = run(found if isinstance(found, list | tuple) else [found])
    assert [plain(each) for each in found] == [plain(each) for each in wanted]


def of_type_not_known():
    """Return a list of floats."""
    return tf.cond(unknown(True, []), lambda: of(4.0), lambda: of(5.0))


# (expression, words of the error)
ERRORS = [
    ("push(push(empty(most=1), 1.0), 2.0)", "full list list size: 1 max_num_elements: 1"),
    ("push(empty([2]), 1.0)", "incompatible shape to a list.*element shape: .*list shape"),
    ("push(empty(unknown(np.int32([2]))), 1.0)", "incompatible shape to a list"),
    ("push(of_type_not_known(), 1)", "Invalid data types; op elements int32 but list"),
    ("empty(most=[1])", "max_num_elements expected to be a scalar but got shape"),
    ("empty(unknown(np.int32(3)))", "only valid scalar shape tensor"),
    ("empty(unknown(np.int32([[1]])))", "at most rank 1"),
    ("empty(unknown(np.int32([-2])))", "Invalid value in tensor used for shape: -2"),
    ("reserve(-1)", "num_elements to reserve must be non negative"),
    ("reserve(unknown(np.int32([1])))", "num_elements expected to be a scalar"),
    ("popped(empty())", "Trying to pop from an empty list"),
    ("popped(reserve(2, ANY))", "uninitialized tensor but element_shape is not fully"),
    ("popped(of(1.0), dtype=I)", "Invalid data types"),
    ("get(reserve(2, [-1]), 0)", "not fully defined.*no list element is set"),
    ("get(reserve(2), 2)", "access element 2 in a list with 2 elements"),
    ("get(reserve(2), -1)", "access element -1 in a list with 2 elements"),
    ("get(reserve(2), [0, 1])", "index expected to be a scalar"),
    ("get(of(1.0), 0, dtype=I)", "op elements int32 but list elements float32"),
    ("get(of(1.0), 0, [2])", "Incompatible ranks during merge"),
    ("put(reserve(2), 2, 1.0)", "modify element 2 in a list with 2 elements"),
    ("put(reserve(2), -1, 1.0)", "modify element -1"),
    ("put(reserve(2), 0, 1)", "Invalid data types"),
    ("put(reserve(2), 0, unknown([1.0]))", "incompatible shape at a list index"),
    ("stack(push(empty(), 1.0), (), count=3)", "list with 3 elements but got.* 1 el"),
    ("stack(empty(ANY))", "elements of an empty list with non-fully-defined element_sha"),
    ("stack(reserve(2, ANY))", "only contains uninitialized tensors and has a non-fully"),
    ("stack(push(push(empty(ANY), 1.0), [1.0]))", "Incompatible ranks during merge"),
    ("stack(of([1.0, 2.0]), [3])", "Incompatible shapes during merge"),
    ("stack(of_type_not_known(), dtype=I)", "Invalid data types"),
    ("stack(lists(empty(), empty()))", "Input list must be a scalar"),
    ("split(unknown(1.0), [1])", "at least a vector"),
    ("raw.TensorListFromTensor(tf.constant(1.0), ANY)", "at least a vector"),
    ("raw.TensorListFromTensor(unknown([[1.0]]), [3])", "list with shape .* from a tens"),
    ("gather(of(1.0, dims=()), [1])", "Index 1 out of range; list only has 1 elements"),
    ("gather(of(1.0, dims=()), [-1])", "Index -1 out of range"),
    ("gather(reserve(2, ANY), [0])", "gather uninitialized tensors from a list with non"),
    ("gather(of(1.0), np.zeros(0, np.int32))", "gather 0-elements from a list with non"),
    ("gather(ragged(), [0, 1])", "Incompatible shapes during merge"),
    ("scatter([1.0, 2.0], [-1, 1])", "must all be non-negative"),
    ("scatter([1.0, 2.0], [1])", "Invalid number of rows in input tensor"),
    ("scatter(1.0, [1])", "at least a vector"),
    ("scatter([1.0, 2.0], [1, 0], dims=[2])", "Specified a list with shape"),
    ("scatter([1.0, 2.0], [1, 3], 3)", "scatter at index 3 in list with size 3"),
    ("scatter_into(reserve(3), [1, 2], [1, 0])", "Invalid data types"),
    ("scatter_into(reserve(3), [1.0], [-2])", "must all be non-negative"),
    ("scatter_into(reserve(3), [[1.0]], [1])", "Specified a list with shape"),
    ("concat(ragged(), ())[0]", "at least vectors, found scalars instead"),
    ("concat(of(1.0))[0]", "saw a scalar shape at index 0 but requires at least vectors"),
    ("concat(ragged(), [2])[0]", "at index: 0 Expected: 2 Actual: 1"),
    ("concat(empty(ANY))[0]", "except the first dimension must be fully defined when"),
    ("concat(reserve(2, [-1, 2]), leads=[1])[0]", "at index 1 but leading_dims has only 1"),
    ("split([1.0, 2.0, 3.0], [1, 1])", "Unused values in tensor. Length of tensor: 3 Va"),
    ("split([1.0, 2.0], [1, 5])", "slice .1, 6. from tensor with length 2"),
    ("split([1.0, 2.0], [-1, 3])", "Invalid value in lengths: -1"),
    ("joined(of(1.0), of(1.0, dims=()))", "element shapes are not identical"),
    ("joined(of(1.0), of(1))", "Invalid data types"),
    ("push_batch(lists(empty(), empty()), unknown([1.0]))[0]", "saw 1 vs. 2"),
    ("resize(of(1.0), -1)", "size to be non-negative. Got: -1"),
    ("total(of(1.0), of(1.0, 2.0))", "different lengths. One is 1 and the other is 2"),
    ("total(of(1.0), of(1))", "of different dtypes. One is float32 and the other is int"),
    ("total(of(1.0), of([1.0]))", "incompatible element shapes"),
    ('total(of("a"), of("b"))', "Trying to add unsupported dtype string"),
    ('zeros(of("a"))', "zeros_like for unsupported dtype string"),
    ("length(raw.OptionalNone())", "Input handle is not a list. Saw: <Optional of None>"),
    ("zeros(raw.OptionalNone())", "Input handle is not a list"),
]


@pytest.mark.parametrize(("expression", "text"), ERRORS)
def test_errors(expression, text):
    made = eval(expression)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(length(made) if made.dtype == tf.variant else made)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("empty([[1]])", "rank"),
        ("empty([-2])", "Invalid value in tensor used for shape: -2"),
        ("empty(3)", "only valid scalar shape"),
        ("of([1.0, 2.0], dims=[3])", "must be equal"),
        ("split([1.0], 1)", "rank 1"),
        ("split(1.0, [1])", "at least rank 1"),
        ("split([1.0], [1], ())", "must be equal"),
        ("push_batch(empty(), [1.0])", "rank 1"),
        ("joined(lists(empty(), empty()), empty())", "must be equal"),
        ("resize(empty(), [2])", "rank 0"),
    ],
)
def test_what_cannot_be_is_told_while_the_graph_is_built(expression, text):
    with pytest.raises(ValueError, match=text):
        eval(expression)


def test_shapes_are_told():
    handle = of(1.0)
    assert stack(handle, [-1, 2], count=3).shape.as_list() == [3, None, 2]
    assert get(handle, 0, [2]).shape.as_list() == [2]
    assert gather(handle, [0, 0], [2]).shape.as_list() == [2, 2]
    assert [each.shape.ndims for each in concat(handle, [3, 2])] == [2, 1]
    assert handle.shape.as_list() == length(handle).shape.as_list() == []


def test_a_list_is_not_fetched_and_the_error_says_what_to_fetch():
    handle = push(empty(), 1.0)
    for fetches in (handle, [handle], {"a": handle}):
        with pytest.raises(ValueError, match=r"may not be fetched: it is a variant.*TensorListSt"):
            run(fetches)
    assert run(handle.op) is None


# gradients


def scalars():
    return tf.constant(3.0), tf.constant([1.0, 2.0, 3.0])


GRADIENTS = {  # of a scalar a = 3 and a vector x = [1, 2, 3]
    "push": (lambda a, x: stack(push(push(empty(), a), a * 2.0), ()), 3.0, None),
    "pop": (lambda a, x: popped(of_vector(x)), None, [0, 0, 1]),
    "pop, the rest": (lambda a, x: stack(pop(of_vector(x))[0], ()), None, [1, 1, 0]),
    "get": (lambda a, x: get(of_vector(x), 1, ()), None, [0, 1, 0]),
    "get twice": (
        lambda a, x: get(of_vector(x), 1, ()) * get(of_vector(x), 2, ()), None, [0, 3, 2],
    ),
    "set": (lambda a, x: stack(put(of_vector(x), 1, a), ()), 1.0, [1, 0, 1]),
    "resize": (lambda a, x: stack(resize(of_vector(x), 2), ()), None, [1, 1, 0]),
    "stack": (lambda a, x: stack(of_vector(x), ()) * x, None, [2, 4, 6]),
    "gather one twice": (
        lambda a, x: gather(of_vector(x), [0, 2, 0], ()) * [1.0, 10.0, 100.0], None, [101, 0, 10],
    ),
    "scatter": (
        lambda a, x: stack(scatter(x, [1, 3, 0]), ()) * [1.0, 2.0, 3.0, 4.0], None, [2, 4, 1],
    ),
    "scatter to a count": (
        lambda a, x: stack(scatter(x, [1, 3, 0], 5), ())[:3], None, [1, 0, 1],
    ),
    "scatter into": (
        lambda a, x: stack(scatter_into(of_vector(x), tf.stack([a]), [2]), ()), 1.0, [1, 1, 0],
    ),
    "split and concat": (
        lambda a, x: concat(split(x, [1, 2], [-1]), [-1])[0] * x, None, [2, 4, 6],
    ),
    "concat as it was": (
        lambda a, x: old_concat(split(x * a, [1, 2], [-1]), [None])[0], 6.0, [3, 3, 3],
    ),
    "sums": (
        lambda a, x: stack(total(of_vector(x), of_vector(x * x), of_vector(x)), ()), None,
        [4, 6, 8],
    ),
}  # fmt: skip


def of_vector(x):
    return raw.TensorListFromTensor(x, shape(()))


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    make, d_scalar, d_vector = GRADIENTS[name]
    a, x = scalars()
    found = tf.gradients(make(a, x), [a, x])
    values = iter(run([each for each in found if each is not None]))
    found = [None if each is None else plain(next(values)) for each in found]
    assert found == [d_scalar, d_vector]


def filled_by_a_loop(a, count):
    return tf.while_loop(
        lambda i, _: i < count,
        lambda i, handle: (i + 1, push(handle, a * tf.cast(i, tf.float32))),
        [0, empty()],
    )[1]


def emptied_by_a_loop(handle, count):
    def body(i, handle, found):
        handle, last = pop(handle, ())
        return i + 1, handle, found + tf.reshape(last * last, [])

    return tf.while_loop(lambda i, *_: i < count, body, [0, handle, 0.0])[2]


def test_gradients_go_through_loops_and_branches_that_carry_lists():
    a, x = scalars()
    filled = filled_by_a_loop(a, 5)
    emptied = emptied_by_a_loop(filled, 5)
    whole = tf.while_loop(
        lambda i, _: i < 3, lambda i, found: (i + 1, found + get(of_vector(x), i, ()) * a), [0, 0.0]
    )[1]
    chosen = tf.cond(a > 2.0, lambda: push(of_vector(x), a), lambda: of_vector(x * 2.0))
    found = [
        *tf.gradients(stack(filled, ()), a),
        *tf.gradients(emptied, a),
        *tf.gradients(whole, [a, x]),
        *tf.gradients(stack(chosen, ()), [a, x]),
    ]
    wanted = [10.0, 180.0, 6.0, [3, 3, 3], 1.0, [1, 1, 1]]
    assert [plain(each) for each in run(found)] == wanted


@pytest.mark.parametrize("make", [tf.function, tf.Defun(tf.variant, tf.float32)])
def test_gradients_go_through_functions_of_lists(make):
    a, x = scalars()
    y = make(lambda handle, a: stack(push(handle, a * a), ()))(of_vector(x), a)
    values = run([y, *tf.gradients(y, [a, x])])
    assert [plain(each) for each in values] == [[1, 2, 3, 9], 6.0, [1, 1, 1]]


# lists do not change, and share what they have


def test_a_list_stays_as_it_was():
    one = of(1.0, 2.0, dims=())
    others = [push(one, 3.0), push(one, 4.0), put(one, 0, 5.0), pop(one)[0], resize(one, 3)]
    found = run([stack(each, ()) for each in (one, *others)])
    assert [each.tolist() for each in found] == [
        [1, 2], [1, 2, 3], [1, 2, 4], [5, 2], [1], [1, 2, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 1023, 1024, 1025, 32768, 32769])
def test_elements_around_full_branches(count):
    some = Elements.of(range(count))
    assert (some.count, list(some)) == (count, list(range(count)))
    more = some.with_last("x")
    assert (list(more), more.at(count)) == ([*range(count), "x"], "x")
    assert list(more.without_last()) == list(range(count))
    if count:
        less = some.without_last()
        assert list(less.with_last("x")) == [*range(count - 1), "x"]
        assert (some.replaced(count - 1, "x").at(count - 1), some.at(count - 1)) == ("x", count - 1)


def test_elements_are_as_a_list_would_be():
    draw = random.Random(0)
    ours, plain_list, kept = Elements.of(()), [], []
    for step in range(5000):
        action = draw.random()
        if action < 0.5 or not plain_list:
            ours = ours.with_last(step)
            plain_list.append(step)
        elif action < 0.8:
            at = draw.randrange(len(plain_list))
            ours = ours.replaced(at, step)
            plain_list[at] = step
        else:
            ours = ours.without_last()
            plain_list.pop()
        if step % 100 == 0:
            kept.append((ours, plain_list.copy()))
    assert all(list(elements) == wanted for elements, wanted in kept)


def test_lists_that_follow_each_other_share_their_elements():
    tracemalloc.start()
    try:
        kept = [Elements.of(range(10_000))]
        before, _ = tracemalloc.get_traced_memory()
        for i in range(1000):
            kept.append(kept[-1].replaced(i * 7, -1).with_last(i))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / 1000 < 10_000 * 8 / 10  # bytes each; a copy has all the pointers


def test_memory_stays_flat_in_a_loop_that_pushes_and_pops():
    count = tf.placeholder(tf.int32, [])

    def body(i, handle, x):
        handle, last = pop(push(handle, x + 1.0), [1000])
        return i + 1, handle, tf.reshape(last, [1000])

    start = [0, empty([1000]), tf.zeros([1000])]
    *_, end = tf.while_loop(lambda i, *_: i < count, body, start)
    with tf.Session() as session:
        session.run(end, {count: 10})
        tracemalloc.start()
        try:
            assert session.run(end, {count: 2000})[0] == 2000.0
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 1_000_000  # all 2000 would have 8 MB


@pytest.mark.parametrize("executor", ["interpreter", "compiler"])
def test_a_loop_of_a_hundred_thousand_rounds(executor, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    count = 100_000 if executor == "compiler" else 10_000
    filled = stack(filled_by_a_loop(tf.constant(1.0), count), ())
    assert run(filled).tolist() == list(map(float, range(count)))


# across processes

RECORDED = {  # by TensorFlow's SerializeTensor
    "empty": (
        b"\x08\x15\x12\x00\"'&\n\x16tensorflow::TensorList\x12\x0c\x00\x01"
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        TensorList(dtypes.float32, (), Elements.of(())),
    ),
    "of shape (3, ?), 7 at most": (
        b'\x08\x15\x12\x00"/.\n\x16tensorflow::TensorList\x12\x14\x00\t\x07\x12\x02\x08\x03\x12'
        b"\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        TensorList(dtypes.int64, (3, None), Elements.of(()), 7),
    ),
    "one of three is set": (
        b'\x08\x15\x12\x00"?>\n\x16tensorflow::TensorList\x12\x10\x02\x00\x02\x01\xff\xff\xff\xff'
        b"\xff\xff\xff\xff\xff\x01\x18\x01\x1a\x12\x08\x01\x12\x04\x12\x02\x08\x02*\x08\x00\x00"
        b"\x80?\x00\x00\x00@",
        TensorList(dtypes.float32, None, Elements.of([None, np.float32([1, 2]), None])),
    ),
    "strings": (
        b'\x08\x15\x12\x00":9\n\x16tensorflow::TensorList\x12\x0e\x00\x07\xff\xff\xff\xff\xff\xff'
        b"\xff\xff\xff\x01\x18\x01\x1a\x0f\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc",
        TensorList(dtypes.string, None, Elements.of([np.array([b"a", b"bc"], object)])),
    ),
    "a list of lists": (
        b'\x08\x15\x12\x00"a`\n\x16tensorflow::TensorList\x12\x0c\x00\x15\xff\xff\xff\xff\xff\xff'
        b"\xff\xff\xff\x01\x1a8\x08\x15\x12\x00z2\n\x16tensorflow::TensorList\x12\x0c\x00\x01\xff"
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\n\x08\x01\x12\x00*\x04\x00\x00\x80@",
        TensorList(
            dtypes.variant,
            (),
            Elements.of([TensorList(dtypes.float32, (), Elements.of([np.float32(4)]))]),
        ),
    ),
    "an optional without a value": (
        b'\x08\x15\x12\x00" \x1f\n\x1atensorflow::data::Optional\x12\x01\x00',
        Optional(None),
    ),
}


def read(data):
    return decoded(memoryview(data), 0, len(data))


def written(value):
    return b"".join(bytes(part) for part in encoded(value))


def assert_alike(found, wanted):
    if isinstance(wanted, Optional):
        assert found.components == wanted.components
        return
    if not isinstance(wanted, TensorList):
        np.testing.assert_array_equal(found, wanted)
        return
    for name in ("dtype", "element_shape", "most", "count"):
        assert getattr(found, name) == getattr(wanted, name)
    for ours, theirs in zip(found.elements, wanted.elements, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            assert_alike(ours, theirs)


@pytest.mark.parametrize("name", RECORDED)
def test_what_tensorflow_wrote_is_read_and_comes_back(name):
    data, wanted = RECORDED[name]
    assert_alike(read(data), wanted)
    assert_alike(read(written(wanted)), wanted)


def test_a_tensor_of_lists_crosses():
    pair = np.empty(2, object)
    pair[:] = [RECORDED["empty"][1], RECORDED["one of three is set"][1]]
    found = read(written(pair))
    assert found.shape == (2,)
    for ours, theirs in zip(found, pair, strict=True):
        assert_alike(ours, theirs)


def test_what_is_broken_is_refused():
    """Whatever bytes come in place of a list: it is read, or it is an InvalidArgumentError."""
    whole = RECORDED["one of three is set"][0]
    refused = 0
    for at in range(len(whole)):
        for broken in (whole[:at], *(whole[:at] + bytes([b]) + whole[at + 1 :] for b in (0, 255))):
            try:
                read(broken)
            except tf.errors.InvalidArgumentError:
                refused += 1
    assert refused > len(whole)


def test_a_variant_of_another_kind_is_named():
    data = RECORDED["empty"][0].replace(b"TensorList", b"TensorMaps")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'tensorflow::TensorMaps'.*Optional"):
        read(data)


def test_what_1_15_does_not_know_is_said_only_if_it_is_asked_for(graph):
    put(reserve(1), 0, 1.0)
    put(reserve(1), 0, 1.0, resize_if_index_out_of_bounds=True)
    get(reserve(1), 0)
    nodes = {node.name: set(node.attr) for node in graph.as_graph_def().node}
    assert nodes["TensorListSetItem"] == nodes["TensorListGetItem"] == {"element_dtype"}
    assert "resize_if_index_out_of_bounds" in nodes["TensorListSetItem_1"]

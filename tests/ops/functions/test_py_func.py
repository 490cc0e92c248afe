"""Python functions as nodes: what they get and give, what they raise, where they run, how long.

Types, numbers and classes of errors are compared with TensorFlow's in `tests/ops/calls.py`.
"""

import copy
import gc
import weakref

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES
from tfdist.launch.start import start_cluster
from tfdist.ops.autodiff import gradients as gradients_module


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


@pytest.fixture
def session(executor):
    with tf.Session() as session:
        yield session


BOTH = pytest.mark.parametrize("py_func", [tf.py_func, tf.py_function])


# what a function gets


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        pytest.param(1.5, np.float32, 1.5, id="a number"),
        pytest.param(True, np.bool_, True, id="a bool"),
        pytest.param(b"a\0", bytes, b"a\0", id="a string"),
        pytest.param([1, 2], np.ndarray, [1, 2], id="a vector"),
        pytest.param([[b"a"], [b"b\0"]], np.ndarray, [[b"a"], [b"b\0"]], id="strings"),
        pytest.param(np.zeros([0, 3]), np.ndarray, np.zeros([0, 3]), id="nothing"),
    ],
)
def test_it_gets_numpys_values(session, given, kind, value):
    got = []
    called = tf.py_func(got.append, [given], [])
    for _ in range(3):
        session.run(called)
    assert [type(each) for each in got] == [kind] * 3
    assert np.shape(got[0]) == np.shape(value)
    assert np.asarray(got[0], object).tolist() == np.asarray(value, object).tolist()


def test_it_gets_arrays_of_its_own(session):
    """It may write to them and keep them: nobody else sees that, and it sees nobody else."""
    kept = []

    def spoil(*arrays):
        for array in arrays:
            array[0] = -1.0
        kept.extend(arrays)

    fed = np.array([1.0, 2.0], np.float32)
    x, constant = tf.placeholder(tf.float32, [2]), tf.constant([1.0, 2.0])
    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    made = constant * 1.0
    spoiled = tf.py_func(spoil, [x, constant, v, made], [])
    with tf.control_dependencies([spoiled]):
        after = [tf.identity(each) for each in (x, constant, v, made)]
    for _ in range(3):
        assert [each.tolist() for each in session.run(after, {x: fed})] == [[1.0, 2.0]] * 4
    fed[:] = 7.0
    assert [each.tolist() for each in kept] == [[-1.0, 2.0]] * 12


def test_values_of_py_function_have_numpy(session):
    """As an eager tensor has; they are arrays besides."""

    def shown(*values):
        kinds.append([type(value.numpy()) for value in values])
        return values[0] + 1, values[1].shape[0], values[2].numpy() + b"!"

    kinds = []
    given = [np.float32(1), [1, 2, 3], "a"]
    called = tf.py_function(shown, given, [tf.float32, tf.int32, tf.string])
    assert session.run(called) == [2.0, 3, b"a!"]
    assert kinds == [[np.float32, np.ndarray, bytes]]


@BOTH
def test_numpys_warnings_are_the_functions(session, py_func):
    """Kernels keep NumPy quiet; a user's code is warned as everywhere."""
    called = py_func(lambda x: x / np.float32(0), [[1.0]], tf.float32)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert session.run(called) == np.inf


def test_it_may_use_the_session(session):
    x = tf.constant(2.0) * 3.0
    called = tf.py_func(lambda: session.run(x) + np.float32(1), [], tf.float32)
    for _ in range(3):
        assert session.run(called) == 7.0


# what it gives


@BOTH
@pytest.mark.parametrize("give", [lambda kept: kept, lambda kept: kept.T, lambda kept: kept[:, 0]])
def test_what_it_keeps_is_not_shared(session, py_func, give):
    """Neither a fetched value nor a variable sees what the function does to it afterwards."""
    kept = np.zeros([2, 3])
    called = py_func(lambda: give(kept), [], tf.float64)
    v = tf.Variable(np.zeros([]), validate_shape=False)
    assigned = tf.assign(v, called, validate_shape=False)
    queue = tf.FIFOQueue(9, tf.float64)
    put = queue.enqueue(called)
    for turn in range(3):
        kept[...] = turn
        found, _, _ = session.run([called, assigned.op, put])
        kept[...] = 100.0
        assert set(found.flat) == set(session.run(v).flat) == {turn}
        assert set(session.run(queue.dequeue()).flat) == {turn}
        found[...] = -1.0
        assert kept.min() == 100.0


def address(array):
    return array.__array_interface__["data"][0]


def test_an_array_that_nobody_else_has_is_not_copied(session):
    """Be it new, or the function's own copy of its input."""
    made = []

    def fresh(x):
        array = np.zeros(1000)
        made.extend([address(array), address(x)])
        return array, x

    called = tf.py_func(fresh, [np.ones(1000)], [tf.float64, tf.float64])
    found = [array for _ in range(3) for array in session.run(called)]
    assert [address(array) for array in found] == made


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        pytest.param(np.array([1.0, 2.0], ">f8"), tf.float64, id="the other byte order"),
        pytest.param(np.float16([1, 2]), tf.float16, id="half"),
        pytest.param(np.array([1, 2], tf.bfloat16.as_numpy_dtype), tf.bfloat16, id="bfloat16"),
        pytest.param(np.complex64([1, 2j]), tf.complex64, id="complex"),
        pytest.param(np.uint64([1, 2]), tf.uint64, id="unsigned"),
        pytest.param(np.broadcast_to(np.int8(3), [2]), tf.int8, id="read only"),
        pytest.param(np.asfortranarray(np.ones([2, 3])), tf.float64, id="by columns"),
        pytest.param(np.array(3.0), tf.float64, id="rank 0"),
    ],
)
def test_arrays_of_any_kind_are_taken(session, given, dtype):
    found = session.run(tf.py_func(lambda: given, [], dtype))
    assert found.dtype == dtype.as_numpy_dtype
    np.testing.assert_array_equal(found, given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("a\0", id="str"),
        pytest.param(b"a\0", id="bytes"),
        pytest.param(np.array("a\0", object), id="object"),
        pytest.param([["a\0"]], id="list"),
        pytest.param(np.array([b"a\0"], object), id="objects"),
    ],
)
def test_strings_keep_their_last_zeros(session, given):
    found = session.run(tf.py_func(lambda: given, [], tf.string))
    assert np.array(found, object).ravel().tolist() == [b"a\0"]


def failure(session, fetch, kind):
    """Return the message of a run's error, the second time: what runs again is compiled."""
    for _ in range(2):
        with pytest.raises(kind) as raised:
            session.run(fetch)
    assert type(raised.value) is kind
    return raised.value.message


def pair():
    return 1.0, 2


@pytest.mark.parametrize(
    ("give", "types", "kind", "words"),
    [
        (lambda: 1.5, "float32", tf.errors.InvalidArgumentError,
         "0-th value returned by <lambda> is float64, but expects float32"),
        (pair, ["float64", "int32"], tf.errors.InvalidArgumentError,
         "1-th value returned by pair is int64, but expects int32"),
        (pair, "float64", tf.errors.InvalidArgumentError,
         "pair returns 2 values, but expects to see 1 values; a list or tuple counts as several"),
        (lambda: None, ["float64"], tf.errors.InvalidArgumentError,
         "<lambda> returns 0 values, but expects to see 1 values"),
        (lambda: [[1, "a", None]], "string", tf.errors.InternalError,
         "Unsupported object type int"),
        (lambda: [[[1], [1, 2]]], "int64", tf.errors.InternalError,
         "Unsupported object type list"),
        (lambda: np.datetime64("2000-01-01"), "int64", tf.errors.InternalError,
         "Unsupported numpy type: datetime64"),
        (lambda: tf.constant(1.0), "float32", tf.errors.UnimplementedError,
         "has no value before it runs"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(session, give, types, kind, words):
    assert words in failure(session, tf.py_func(give, [], types), kind)


def test_py_function_converts_within_a_kind_only(session):
    half = tf.py_function(lambda: np.float64(1.5), [], tf.float16)
    assert session.run(half) == np.float16(1.5)
    message = failure(
        session, tf.py_function(lambda: 1.5, [], tf.int32), tf.errors.InvalidArgumentError
    )
    assert message == "0-th value returned by <lambda> is float64, but expects int32"


# what it raises


class Odd(Exception):
    """An error that nobody else knows."""


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (UnicodeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (Odd, tf.errors.UnknownError),
        (KeyError, tf.errors.UnknownError),
        (ArithmeticError, tf.errors.UnknownError),
        (SystemExit, tf.errors.UnknownError),
        (GeneratorExit, tf.errors.UnknownError),
        (tf.errors.NotFoundError, tf.errors.UnknownError),
    ],
)
def test_errors_have_tensorflows_classes(session, raised, kind):
    """These are what 1.15.5 gives."""

    def fail():
        raise raised("some words")

    assert failure(session, tf.py_func(fail, [], []), kind).startswith(f"{raised.__name__}: ")


def test_ctrl_c_stays_what_it_is(session):
    """Pressed twice it reaches the function, and then the user wants out."""

    def fail():
        raise KeyboardInterrupt

    called = tf.py_func(fail, [], [])
    with pytest.raises(KeyboardInterrupt):
        session.run(called)


def inner():
    raise Odd("some words")


def outer(x):
    inner()


def test_an_error_has_the_traceback_of_the_function(place):
    """Wherever it ran; above the function there is nothing that the user wrote."""
    with tf.device(place.there):
        called = tf.py_func(outer, [1.0], tf.float32, name="here")
    with tf.Session(place.target) as session:
        lines = failure(session, called, tf.errors.UnknownError).splitlines()
        with pytest.raises(tf.errors.UnknownError) as raised:
            session.run(called)
    assert lines[:2] == ["Odd: some words", "Traceback (most recent call last):"]
    assert [line.split(", in ")[1] for line in lines if ", in " in line] == ["outer", "inner"]
    assert f'  File "{__file__}"' in lines[2]
    assert lines[-1].endswith("Odd: some words")
    assert raised.value.op is called.op


def test_an_error_keeps_what_caused_it(session):
    def fail():
        try:
            inner()
        except Odd as error:
            raise ValueError("worse") from error

    message = failure(session, tf.py_func(fail, [], []), tf.errors.InvalidArgumentError)
    assert message.startswith("ValueError: worse\n")
    assert "Odd: some words\n\nThe above exception was the direct cause" in message


# where it runs


def test_it_runs_on_every_task_of_its_process(place):
    calls = []

    def double(x):
        calls.append(x)
        return x * 2

    with tf.device(place.there):
        x = tf.placeholder(tf.float32)
        doubled = tf.py_func(double, [x], tf.float32)
    with tf.device(place.here):
        total = tf.reduce_sum(doubled)
    with tf.Session(place.target) as session:
        found = [session.run(total, {x: [1.0, float(turn)]}) for turn in range(3)]
    assert found == [2.0, 4.0, 6.0]
    assert len(calls) == 3


@pytest.fixture
def other_process(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    with start_cluster({"worker": 1}, "for functions", processes=True).require() as cluster:
        yield cluster


def test_another_process_does_not_run_it(other_process):
    """It says which node on which device, and what to do."""
    calls = []
    called = tf.py_func(calls.append, [1.0], [], name="mine")
    with tf.Session(other_process.target()) as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(called)
    error = raised.value
    assert "functions do not cross the wire" in error.message
    assert "Place it with tf.device on a task of that process" in error.message
    assert error.op is called
    assert error.device == "/job:worker/replica:0/task:0/device:CPU:0"
    assert calls == []


def test_a_token_names_no_other_function(session, graph):
    """Neither one that was changed, nor one of another process, nor the number of a call."""
    tf.py_func(lambda: 1.0, [], tf.float64)
    token = graph.get_operations()[-1].get_attr("token")
    for other in (b"pyfunc_0", token[:-1], token + b"0", token[:-32], b""):
        guess = tf.raw_ops.PyFunc([], token=other, Tout=[tf.float64])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(guess)
    again = tf.raw_ops.PyFunc([], token=token, Tout=[tf.float64])
    assert session.run(again) == [1.0]


def test_tokens_are_not_alike(graph):
    for _ in range(20):
        tf.py_func(lambda: 1.0, [], tf.float64)
    tokens = [op.get_attr("token") for op in graph.get_operations()]
    assert len({token[-32:] for token in tokens}) == 20
    assert all(len(bytes.fromhex(token[-32:].decode())) == 16 for token in tokens)


# how long it lives


def test_a_function_lives_as_long_as_its_graph():
    def function():
        return 1.0

    alive = weakref.ref(function)
    with tf.Graph().as_default() as graph:
        called = tf.py_func(function, [], tf.float64)
    del function
    gc.collect()
    with tf.Session(graph=graph) as session:
        assert session.run(called) == 1.0
    definition = graph.as_graph_def()
    del graph, called, session
    gc.collect()
    assert alive() is None
    (copied,) = tf.import_graph_def(definition, return_elements=["PyFunc:0"])
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="gone with the graph"):
            session.run(copied)


def test_a_function_that_knows_its_graph_does_not_keep_it():
    def alive():
        with tf.Graph().as_default() as graph:
            x = tf.constant(1.0)
            tf.py_func(lambda: x.shape.ndims, [], tf.int64)
            return weakref.ref(graph)

    graph = alive()
    gc.collect()
    assert graph() is None


def test_a_copy_of_the_node_runs_while_the_graph_lives(graph):
    tf.py_func(lambda x: x + 1, [1], tf.int32)
    definition = graph.as_graph_def()
    with tf.Graph().as_default():
        (copied,) = tf.import_graph_def(definition, return_elements=["PyFunc:0"])
        with tf.Session() as session:
            assert session.run(copied) == 2


def test_a_function_may_be_any_callable(session):
    class Adder:
        def __call__(self, x):
            return x + self.amount

    adder = Adder()
    adder.amount = np.int32(2)
    assert session.run(tf.py_func(adder, [1], tf.int32)) == 3
    assert session.run(tf.py_func(copy.copy(adder).__call__, [1], tf.int32)) == 3
    del adder.amount
    called = tf.py_func(adder, [1], tf.int32)
    assert "has no attribute 'amount'" in failure(session, called, tf.errors.UnknownError)


# nodes


def test_a_function_without_results_is_an_operation(graph):
    """Also where its inputs are of a graph that is not the default one."""
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        called = tf.py_func(print, [x], [], name="shown")
    assert isinstance(called, tf.Operation)
    assert (called.graph, called.name, called.type) == (graph, "shown", "PyFunc")


def test_stateful_is_what_it_says():
    stateful, stateless = (tf.py_func(pair, [], [], stateful=each) for each in (True, False))
    assert (stateful.op_def.is_stateful, stateless.op_def.is_stateful) == (True, False)


# gradients


def squared(x):
    called = tf.py_func(np.square, [x], tf.float32)
    called.set_shape(x.shape)
    return called


def test_no_gradient_flows_through():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(squared(x), x) == [None]


def test_a_gradient_can_be_given_to_one_node(session, monkeypatch):
    """The way of old programs: a name of its own, which `gradient_override_map` sets."""
    monkeypatch.setattr(gradients_module, "_OVERRIDES", {})

    @tf.RegisterGradient("SquaredByHand")
    def gradient(op, d_y):
        return tf.py_func(lambda x, d: x * d * np.float32(2), [op.inputs[0], d_y], tf.float32)

    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"PyFunc": "SquaredByHand"}):
        y = squared(x)
    (d_x,) = tf.gradients(y * 10.0, x)
    assert d_x.shape.as_list() == [2]
    assert session.run(d_x).tolist() == [20.0, 40.0]


def test_py_function_says_that_it_has_no_gradient():
    x = tf.constant([1.0, 2.0])
    y = tf.py_function(np.square, [x], tf.float32)
    with pytest.raises(LookupError, match="EagerPyFunc"):
        tf.gradients(y, x)

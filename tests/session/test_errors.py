"""Errors say what went wrong, at which node, on which device, and which line made it."""

import pickle

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES
from tfdist import errors


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


def bad_model(x):
    return tf.check_numerics(tf.negative(x), "loss", name="check")  # this line is named


def failure(session, *run):
    """Return the error of a run, the second time: what runs again is compiled."""
    for _ in range(2):
        with pytest.raises(tf.OpError) as raised:
            session.run(*run)
    return raised.value


def test_an_error_carries_op_device_and_line(place):
    with tf.device(place.there):
        x = tf.placeholder(tf.float32, name="x")
        checked = bad_model(x)
    with tf.device(place.here):
        after = tf.negative(checked)
    with tf.Session(place.target) as session:
        error = failure(session, after, {x: np.nan})
    assert type(error) is tf.errors.InvalidArgumentError
    assert error.message == "loss : Tensor had NaN values"
    assert error.op is checked.op
    assert error.node_def.name == error.node_name == "check"
    assert error.error_code == errors.INVALID_ARGUMENT
    assert tf.DeviceSpec.from_string(place.there).matches(tf.DeviceSpec.from_string(error.device))
    assert error.created_at.endswith("  # this line is named")


def test_an_error_prints_all_it_knows():
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session() as session:
        lines = str(failure(session, bad_model(x), {x: np.nan})).splitlines()
    assert lines[0] == "loss : Tensor had NaN values"
    assert lines[1] == "  node: check"
    assert lines[2] == "  device: /job:localhost/replica:0/task:0/device:CPU:0"
    assert lines[3].startswith(f"  made at: {__file__}:")
    assert " in bad_model: return tf.check_numerics(" in lines[3]
    assert len(lines) == 4


FAILURES = [
    pytest.param(
        lambda x: tf.reshape(x, [3]), [1.0, 2.0], tf.errors.InvalidArgumentError, "Reshape",
        id="a shape that only shows when it runs",
    ),
    pytest.param(
        lambda x: x + tf.constant([1.0, 2.0, 3.0]), [1.0, 2.0], tf.errors.InvalidArgumentError,
        "add", id="operands that do not fit",
    ),
    pytest.param(
        lambda x: tf.matmul(x, x), [[1.0, 2.0]], tf.errors.InvalidArgumentError, "MatMul",
        id="a product that does not fit",
    ),
    pytest.param(
        lambda x: tf.gather(x, [7]), [1.0, 2.0], tf.errors.InvalidArgumentError, "GatherV2",
        id="an index out of range",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "value", "kind", "name"), FAILURES)
def test_what_fails_as_it_runs(executor, build, value, kind, name):
    x = tf.placeholder(tf.float32)
    y = build(x)
    with tf.Session() as session:
        error = failure(session, tf.negative(y), {x: value})
    assert type(error) is kind
    assert error.op.name == name
    assert error.created_at.startswith(f"{__file__}:")


def test_the_first_of_two_errors_on_a_path_is_told():
    x = tf.placeholder(tf.float32)
    first = tf.check_numerics(x, "first", name="first")
    second = tf.check_numerics(first, "second", name="second")
    with tf.Session() as session:
        assert failure(session, second, {x: np.nan}).op.name == "first"


@pytest.mark.parametrize(
    ("use", "name"),
    [
        pytest.param(lambda v: v + 1.0, "v/read", id="in a sum"),
        pytest.param(lambda v: v.assign_add(1.0), "AssignAdd", id="in an update"),
        pytest.param(lambda v: v, "v", id="fetched itself"),
        pytest.param(lambda v: v.read_value(), "read", id="read again"),
    ],
)
def test_an_uninitialized_variable(executor, use, name):
    v = tf.Variable(1.0, name="v")
    fetch = use(v)
    with tf.Session() as session:
        error = failure(session, fetch)
    assert type(error) is tf.errors.FailedPreconditionError
    assert "uninitialized value v" in error.message
    assert error.op.name == name
    assert __file__ in error.created_at


def test_a_node_without_device(executor):
    with tf.device("/job:nowhere"):
        lost = tf.constant(1.0, name="lost")
    with tf.Session() as session:
        error = failure(session, tf.negative(lost))
        assert session.run(tf.constant(2.0)) == 2.0
    assert type(error) is tf.errors.InvalidArgumentError
    assert (error.op, error.device) == (lost.op, "")
    assert "to /job:nowhere but available devices are [ /job:localhost" in error.message
    assert "lost = tf.constant" in error.created_at


def test_no_errors_come_from_arithmetic():
    x = tf.placeholder(tf.float32)
    results = [1.0 / x, tf.log(x), tf.sqrt(x - 1.0), tf.exp(x + 1000.0)]
    with tf.Session() as session:
        found = session.run(results, {x: 0.0})
    assert [float(each) for each in found[:2]] == [np.inf, -np.inf]
    assert np.isnan(found[2])
    assert found[3] == np.inf


def test_warnings_of_the_caller_stay_as_they_were():
    with tf.Session() as session:
        session.run(tf.constant(1.0) / 0.0)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        _ = np.float32(1.0) / np.float32(0.0)


# the table of classes

CODES = {
    1: "CancelledError", 2: "UnknownError", 3: "InvalidArgumentError", 4: "DeadlineExceededError",
    5: "NotFoundError", 6: "AlreadyExistsError", 7: "PermissionDeniedError",
    8: "ResourceExhaustedError", 9: "FailedPreconditionError", 10: "AbortedError",
    11: "OutOfRangeError", 12: "UnimplementedError", 13: "InternalError", 14: "UnavailableError",
    15: "DataLossError", 16: "UnauthenticatedError",
}  # fmt: skip


@pytest.mark.parametrize(("code", "name"), CODES.items(), ids=CODES.values())
def test_every_code_has_its_class(code, name):
    cls = getattr(tf.errors, name)
    assert cls("text").error_code == code
    assert tf.errors.exception_type_from_error_code(code) is cls
    assert tf.errors.error_code_from_exception_type(cls) == code
    assert issubclass(cls, tf.OpError)


def test_an_error_can_be_made_with_tensorflows_three_arguments():
    op = tf.constant(1, name="c").op
    error = tf.errors.NotFoundError(op.node_def, op, "text")
    assert (error.op, error.message, error.node_name) == (op, "text", "c")
    assert error.node_def.name == "c"
    assert str(error).startswith("text\n  node: c")


def test_who_tells_the_place_first_is_believed():
    error = tf.errors.NotFoundError("text").at_node("inner", "/job:a").at_node("outer", "/job:b")
    assert (error.node_name, error.device) == ("inner", "/job:a")


def test_an_error_survives_pickle():
    error = tf.errors.NotFoundError("text").at_node("n", "/job:a")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is tf.errors.NotFoundError
    assert (copy.message, copy.node_name, copy.device) == ("text", "n", "/job:a")

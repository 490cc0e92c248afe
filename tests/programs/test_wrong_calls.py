"""Wrong calls of public functions raise what programs catch: the class of 1.15.5's error."""

import pytest

import tfdist as tf
from tests.programs.wrong_calls import FILE, OTHERWISE, calls, error_of

HERE = {call: name for name, call in calls(OTHERWISE)}


@pytest.fixture(autouse=True)
def no_warnings_are_logged():
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    yield
    tf.logging.set_verbosity(before)


def test_what_differs_is_of_these_calls():
    assert HERE.keys() <= {call for _, call in calls(FILE)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("there", "call"), calls(FILE))
def test_a_wrong_call_raises_what_it_raises_there(there, call):
    error = error_of(tf, call)
    classes = ["-"] if error is None else [each.__name__ for each in type(error).__mro__]
    assert HERE.get(call, there) in classes, error

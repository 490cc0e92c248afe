"""Decorators that warn of outdated functions, arguments and values."""

import pytest

import tfdist as tf

F = tf.contrib.framework


@pytest.mark.parametrize(
    ("decorator", "calls", "told"),
    [
        pytest.param(F.deprecated("2030-01-02", "Use b."), [((1,), {})] * 2, ["after 2030-01-02"],
                     id="once"),
        pytest.param(F.deprecated(None, "Use b.", warn_once=False), [((1,), {})] * 2,
                     ["in a future version"] * 2, id="each time"),
        pytest.param(F.deprecated_args(None, "Use b.", "y"), [((1,), {}), ((1, 2), {})],
                     ["with y is deprecated"], id="an argument"),
        pytest.param(F.deprecated_args(None, "Use b.", ("y", None)),
                     [((1,), {"y": None}), ((1,), {"y": 3})], ["with y is deprecated"],
                     id="an argument that may be None"),
        pytest.param(F.deprecated_arg_values(None, "Use b.", y=2), [((1, 3), {}), ((1, 2), {})],
                     ["with y=2 is deprecated"], id="a value"),
    ],
)  # fmt: skip
def test_what_is_outdated_is_told(decorator, calls, told, caplog):
    @decorator
    def add(x, y=0):
        """Return a sum."""
        return x + (y or 0)

    assert [add(*args, **named) for args, named in calls] == [
        args[0] + (args[1] if args[1:] else named.get("y") or 0) for args, named in calls
    ]
    assert len(caplog.messages) == len(told)
    for message, words in zip(caplog.messages, told, strict=True):
        assert words in message
        assert "Instructions for updating:\nUse b." in message
    assert add.__doc__.startswith("Return a sum. (deprecated")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: F.deprecated("tomorrow", "Use b."), "YYYY-MM-DD"),
        (lambda: F.deprecated(None, ""), "without conversion instructions"),
        (lambda: F.deprecated_args(None, "Use b."), "Specify which argument"),
        (
            lambda: F.deprecated_args(None, "Use b.", "z")(lambda x: x),
            "not present in the function",
        ),
        (lambda: F.deprecated_args(None, "Use b.", "z", other=1), "Illegal argument"),
        (lambda: F.deprecated_arg_values(None, "Use b."), "Specify which argument values"),
    ],
)
def test_what_cannot_be_outdated_is_told(make, words):
    with pytest.raises(ValueError, match=words):
        make()

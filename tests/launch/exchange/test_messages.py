"""Messages of an exchange: what is said arrives, and nothing else does."""

import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.launch.exchange.messages import (
    LARGEST,
    Bound,
    Cluster,
    Ended,
    Lease,
    Serves,
    Stop,
    decode,
    encode,
)

MESSAGES = [
    Bound("10.0.0.2:4000", 17, "node-2", "tfdist 1.0, Python 3.11", "-----BEGIN"),
    Serves(),
    Ended("port 2222 is taken"),
    Cluster({"/job:ps/task:0": "10.0.0.2:4000"}, 30.0, "certificate", "authority"),
    Lease(30.0),
    Stop(1.5, "why"),
]

REFUSED = [
    ("", "nothing"),
    ("tfdist: a line of a log", "no JSON"),
    ("[]", "no object"),
    ("{}", "an object that says nothing"),
    ('{"explode": {}}', "an unknown message"),
    ('{"lease": {}}', "a field is missing"),
    ('{"lease": {"seconds": "soon"}}', "a text where a number should be"),
    ('{"lease": {"seconds": true}}', "a truth value where a number should be"),
    ('{"cluster": {"addresses": {"/job:ps/task:0": 1}}}', "an address that is no text"),
    ('{"bound": {"address": ["a:1"]}}', "a list where a text should be"),
    ('{"serves": {}, "lease": {"seconds": 1}}', "two messages in one line"),
    (b"\xff\xfe", "bytes that are no text"),
    (" " * (LARGEST + 1), "more than the largest message"),
    ("[" * 100_000, "nested deeper than any message"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: type(each).__name__)
def test_a_message_comes_back_from_its_line(message):
    assert decode(encode(message)) == message
    assert decode(encode(message).encode()) == message
    assert "\n" not in encode(message)


@pytest.mark.parametrize(("line", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_what_is_no_message_is_refused(line, why):
    with pytest.raises(InvalidArgumentError, match="no message of a task's exchange"):
        decode(line)


def test_what_a_later_version_adds_is_left_out():
    assert decode('{"bound": {"address": "a:1", "rack": 7}}') == Bound("a:1")

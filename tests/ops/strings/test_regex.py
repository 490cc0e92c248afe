"""Regular expressions beside what TensorFlow 1.15.5 makes of them, and what they may cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.strings.regex_calls import cases, key, made, outcome, shown
from tfdist.errors import DeadlineExceededError, InvalidArgumentError

EXPECTED = json.loads(
    Path(__file__).with_name("expected_regex_1_15.json").read_text(encoding="utf-8")
)

# What later releases of RE2 tell in other words, and the one form that they have taken up.
OTHER_WORDS = {")", "a)", "(?<=a)", "(?<!a)"}
TAKEN_UP = {"(?<n>a)"}


KNOWN = [case for case in cases() if case[1] not in TAKEN_UP]
WELL_FORMED = [case for case in KNOWN if not isinstance(EXPECTED[key(case)], dict)]
MALFORMED = [case for case in KNOWN if isinstance(EXPECTED[key(case)], dict)]
BOTH_FORMS = pytest.mark.parametrize(
    "is_static", [False, True], ids=["pattern fed", "pattern in the graph"]
)


@BOTH_FORMS
def test_every_pattern_does_what_tensorflow_does(is_static):
    values = run([made(tf, *case, is_static) for case in WELL_FORMED])
    found = {key(case): shown(value) for case, value in zip(WELL_FORMED, values, strict=True)}
    assert found == {key(case): EXPECTED[key(case)] for case in WELL_FORMED}


@BOTH_FORMS
def test_what_is_malformed_is_told_in_tensorflow_words(is_static):
    with tf.Session() as session:
        found = [outcome(tf, session.run, case, is_static) for case in MALFORMED[is_static::2]]
    for case, told in zip(MALFORMED[is_static::2], found, strict=True):
        wanted = EXPECTED[key(case)]
        if case[1] in OTHER_WORDS:
            wanted = {"error": wanted["error"]}
        assert told.items() >= wanted.items()


def run(fetch, **options):
    with tf.Session() as session:
        return session.run(fetch, options=tf.RunOptions(**options))


def test_what_takes_a_backtracking_matcher_forever_is_quick():
    text, pattern = "a" * 5_000, tf.constant("(a*)*(a|aa)+b")
    assert run(tf.strings.regex_full_match([text], pattern)).tolist() == [False]
    assert run(tf.strings.regex_replace([text], pattern, "")).tolist() == [text.encode()]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        pytest.param("a?" * 8_193, "8193 repeats, at most 8192", id="optional parts in a row"),
        pytest.param(r"\pL" * 1_025, "1025 classes of Unicode, at most 1024", id="classes"),
        pytest.param("(a)" * 100_000, "300000 bytes, at most 262144", id="a long one"),
        pytest.param("(a{1000}){100}", "invalid repetition size", id="repeats of repeats"),
        pytest.param(r"(\pL{100}){10}", "pattern too large - compile failed", id="RE2's own bound"),
    ],
)
def test_a_pattern_that_is_long_in_the_making_is_refused(pattern, told):
    with pytest.raises(InvalidArgumentError, match=rf"Invalid pattern: .{{,1100}}error: .*{told}"):
        run(tf.strings.regex_full_match(["a"], tf.constant(pattern)))


def test_a_pattern_that_is_no_utf_8_is_refused():
    """1.15.5 crashes there."""
    with pytest.raises(InvalidArgumentError, match="error: invalid UTF-8"):
        run(tf.strings.regex_full_match(["a"], tf.constant(b"a\xff")))


def test_a_replacement_of_many_matches_ends_with_its_step():
    """Each match looks through all that is left of the text: the time grows with its square."""
    replaced = tf.strings.regex_replace(["a" * 3_000_000], "a(.*b)?", "c")
    with pytest.raises(DeadlineExceededError):
        run(replaced, timeout_in_ms=50)


def test_nothing_is_printed(capfd):
    run(tf.strings.regex_replace(["a"], tf.constant("a"), tf.constant("\\")))
    with pytest.raises(InvalidArgumentError):
        run(tf.strings.regex_full_match(["a"], tf.constant("(")))
    assert capfd.readouterr() == ("", "")

"""Our queues, accumulators, barriers and staging areas against what 1.15.5 made of the programs."""

import json

import pytest

import tfdist as tf
from tests.ops.queues.queue_programs import BUILD_ERRORS, EXPECTED, PROGRAMS, build_error, told

with open(EXPECTED, encoding="utf-8") as _file:
    SAID = json.load(_file)


@pytest.fixture(params=["interpreter", "compiler"])
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("executor")
def test_program_is_as_in_tensorflow(name):
    found, wanted = told(tf, PROGRAMS[name]), SAID["programs"][name]
    assert [named(node) for node in found["nodes"]] == [named(node) for node in wanted["nodes"]]
    assert found["shapes"] == wanted["shapes"]
    for step, (ours, theirs) in enumerate(zip(found["outcomes"], wanted["outcomes"], strict=True)):
        if isinstance(theirs, dict):
            assert isinstance(ours, dict), (step, ours, theirs)
            assert ours["error"] == theirs["error"], (step, ours, theirs)
            assert phrase(theirs["text"]) in ours["text"], (step, ours["text"], theirs["text"])
        else:
            assert ours == theirs, step


def named(node):
    """Return a node without what differs on purpose."""
    name, op, inputs, attrs = node
    return [name, op, inputs, {key: value for key, value in attrs.items() if key != "seed2"}]


# What both texts must have in common; the rest names the queue in other ways.
PHRASES = (
    "closed and has insufficient elements", "is already closed", "is closed", "Shape mismatch",
    "has component types", "has component shapes", "has capacity", "has min_after_dequeue",
    "has random seeds", "Signature mismatch", "specified shapes", "must be < capacity",
    "must be >= 0", "< 0 elements", "Expected ", "must be positive", "non-empty input values",
    "indices should be vector", "was already initialized", "already has a value for component",
    "Attempted to insert tensors with combined size",
    "is not in [0, 2)", "Slice index 2 of dimension",
)  # fmt: skip


def phrase(text):
    """Return the phrase of a text by which programs know the error."""
    return next((each for each in PHRASES if each in text), text)


@pytest.mark.parametrize("source", BUILD_ERRORS.strip().split("\n"))
def test_error_is_told_while_building(source):
    found, wanted = build_error(tf, source), SAID["errors"][source]
    assert found is not None
    assert wanted is not None
    assert found[0] == wanted[0], (found, wanted)

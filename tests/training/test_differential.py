"""Input pipelines, coordinators and queue runners do what those of TensorFlow 1.15.5 do.

`pipelines.py` and `coordination.py` have the programs; `differential.py` stored what that said.
"""

import json
import re
import threading

import pytest

import tfdist as tf
from tests.training import coordination, differential, pipelines

EXPECTED = differential.expected()


def told(line, monkeypatch):
    """Return what a line gives here, in the form in which 1.15.5's is stored."""
    monkeypatch.setattr(differential, "PATIENCE", 300)
    return json.loads(json.dumps(differential.outcome(tf, pipelines.environment, line)))


def comparable(nodes):
    """Return nodes without what is known to differ.

    Here `tf.Assert` makes no constants that nobody uses, so that the op seeds that follow from
    the number of nodes are others; and what brings a tensor into a branch comes first.
    """
    kept = [node for node in nodes if "/Assert/Const = " not in node]
    asserts = any("/Assert/Assert = " in node for node in nodes)
    return sorted(re.sub(r"seed2=i: \d+", "seed2=?", node) if asserts else node for node in kept)


def end(outcome):
    """Return what ended a pipeline.

    Left out are the session's part of a queue's name, how far a batch had come then, which is a
    matter of luck, and what a timeout says.
    """
    if outcome["end"].startswith("DeadlineExceededError"):
        return "DeadlineExceededError"
    return re.sub(r"'_\d+_|\(requested .*\)", "'", outcome["end"])


def leaves(element):
    """Return the arrays in an element, each as [type, shape, elements]."""
    if isinstance(element, dict):
        return [leaf for key in sorted(element) for leaf in leaves(element[key])]
    if isinstance(element[0], str):
        return [element]
    return [leaf for part in element for leaf in leaves(part)]


def in_any_order(elements):
    """Return types and elements of each component, sorted."""
    columns = zip(*map(leaves, elements), strict=True)
    return [
        [{leaf[0] for leaf in column}, sorted(value for leaf in column for value in leaf[2])]
        for column in columns
    ]


@pytest.mark.parametrize("line", pipelines.lines("IN_ORDER", "PADDED", "SPARSE"))
def test_pipeline_in_order(line, monkeypatch):
    found, wanted = told(line, monkeypatch), EXPECTED[line]
    assert comparable(found["nodes"]) == comparable(wanted["nodes"])
    assert found["collections"] == wanted["collections"]
    assert found["fetched"] == wanted["fetched"]
    assert found["elements"] == wanted["elements"]
    assert end(found) == end(wanted)


@pytest.mark.parametrize("line", pipelines.lines("ANY_ORDER", "SHUFFLED", "SPARSE_SHUFFLED"))
def test_pipeline_in_any_order(line, monkeypatch):
    found, wanted = told(line, monkeypatch), EXPECTED[line]
    assert comparable(found["nodes"]) == comparable(wanted["nodes"])
    assert found["collections"] == wanted["collections"]
    assert found["fetched"] == wanted["fetched"]
    assert in_any_order(found["elements"]) == in_any_order(wanted["elements"])
    assert end(found) == end(wanted)


@pytest.mark.parametrize("line", pipelines.lines("WRONG"))
def test_what_is_wrong_is_said_in_the_same_words(line, monkeypatch):
    found, wanted = told(line, monkeypatch)["error"], EXPECTED[line]["error"]
    assert found[0] == wanted[0]
    name = r"Tensor\(.*\)|<tf.Tensor .*>"
    assert re.sub(name, "TENSOR", found[1]) == re.sub(name, "TENSOR", wanted[1])


@pytest.mark.parametrize("line", pipelines.lines("SPARSE_WRONG"))
def test_what_is_wrong_with_sparse_tensors_is_said(line, monkeypatch):
    found, wanted = told(line, monkeypatch)["error"], EXPECTED[line]["error"]
    assert found[0] == wanted[0]
    [phrase, _] = re.split(r": | or ", wanted[1], maxsplit=1)
    assert phrase in found[1]


@pytest.mark.parametrize("line", pipelines.lines("MISFITS"))
def test_what_does_not_fit_is_an_error_here_too(line, monkeypatch):
    [found, _], [wanted, _] = told(line, monkeypatch)["error"], EXPECTED[line]["error"]
    accidents = {"AssertionError", "AttributeError"}
    assert found == wanted or wanted in accidents


@pytest.mark.parametrize("name", coordination.PROGRAMS)
def test_coordination(name, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # as their threads end by errors
    found = json.dumps(coordination.PROGRAMS[name](tf))
    assert found == re.sub(r"'_\d+_", "'", json.dumps(EXPECTED[name]))

"""Graphs that TensorFlow 2.21 made of its pipelines: they run here, and give what it gave.

`later.py` says how they are stored anew.
"""

import base64
import json
import zlib
from functools import cache
from types import SimpleNamespace

import pytest

import tfdist as tf
from tests.datasets import later
from tests.datasets.differential import elements, write_files

# Each epoch has seeds of its own in 2.21; in 1.15, whose order is ours, all go on with one stream.
ANY_ORDER = ("shuffle_and_repeat(",)


@cache
def expected():
    with open(later.EXPECTED, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files").mkdir()
    write_files("files")


@pytest.mark.parametrize("source", later.lines())
def test_a_graph_of_tensorflow_2_runs(source):
    wanted = expected()[source]
    message = tf.GraphDef.FromString(zlib.decompress(base64.b64decode(wanted["graph"])))
    tf.import_graph_def(message, name="")
    iterator = SimpleNamespace(initializer=wanted["initializer"])
    found = elements(tf, iterator, wanted["fetches"], 1 if "function" in source else 40)
    found = json.loads(json.dumps(found))
    assert found["end"].partition(":")[0] == wanted["end"].partition(":")[0]
    if any(name in source for name in ANY_ORDER):
        assert sorted(values_of(found)) == sorted(values_of(wanted))
    else:
        assert found["elements"] == wanted["elements"]


def values_of(outcome):
    """Return the numbers of all elements, batches taken apart."""
    return [value for [(_, _, values)] in outcome["elements"] for value in values]

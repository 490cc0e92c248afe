"""Our pipelines against real TensorFlow's: nodes, functions, types, shapes, elements, errors.

What 1.15.5 said is read from `expected_1_15.json`; `differential.py` says how it is stored anew.
"""

import json
from functools import cache

import pytest

import tfdist as tf
from tests.datasets import pipelines
from tests.datasets.differential import EXPECTED, outcome, write_files


@cache
def expected():
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("files"))
    write_files(path)
    return path


@pytest.mark.parametrize("source", pipelines.lines())
def test_a_pipeline_is_as_in_tensorflow(source, folder):
    found, wanted = outcome(tf, pipelines.environment, source, folder), dict(expected()[source])
    if "end" in wanted:
        assert found["end"].partition(":")[0] == wanted["end"].partition(":")[0]
        found["end"] = wanted["end"]
    assert found == wanted


TEXTS = [
    "D.range(10).shard(3, 3)",
    "D.range(6).shuffle(0)",
    'T(folder + "/absent.txt")',
    "D.range(6).map(lambda x: tf.fill([I(x)], x)).padded_batch(2, [2])",
    'F(folder + "/lines.txt", 3)',
    "D.range(0)",
]


@pytest.mark.parametrize("source", TEXTS)
def test_errors_have_the_texts_of_tensorflow(source, folder):
    found = outcome(tf, pipelines.environment, source, folder)
    assert found["end"] == expected()[source]["end"]

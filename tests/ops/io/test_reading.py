"""Readers, files, records and parsing against real TensorFlow's: nodes, values, shapes, errors.

Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's
Python, it is asked; elsewhere what 1.15.5 said is read from `expected_reading_1_15.json`. What it
says of an error must be part of what we say.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import tfdist as tf
from tests.ops.io import reading

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")

# Calls that give something else here on purpose, or tell an error in other words.
OTHER_WORDS = {
    "tf.parse_tensor(tf.serialize_tensor(1), tf.float32)",
    'tf.decode_json_example("nope")',
    'tf.io.parse_sequence_example([X, Y], C, {"s": F([], tf.int64)})',
}


@cache
def real() -> dict[str, Any]:
    """Return what real TensorFlow says."""
    if REAL:
        return reading.run_real(REAL)[0]
    with open(reading.EXPECTED, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with all files, whose name ends with a slash."""
    path = f"{tmp_path_factory.mktemp('reading')}/"
    reading.make_files(path)
    return path


def compare_errors(found: Any, wanted: Any, exactly: bool = True) -> None:
    """Assert that both are errors of one class, and that ours says what theirs says."""
    assert found.get("error") == wanted["error"], found
    if exactly:
        assert _plain(wanted["message"]) in _plain(found["message"])


def _plain(message: str) -> str:
    """Return a message without the queue's name, which TensorFlow numbers."""
    return re.sub(r"FIFOQueue '\w+'", "FIFOQueue", message)


@pytest.mark.parametrize("way", ["one by one", "by two"])
@pytest.mark.parametrize("source", reading.READERS)
def test_reader_reads_what_tensorflow_reads(source, way, folder):
    found = reading.reads(tf, source, folder)[way]
    wanted = real()["readers"][source][way]
    assert found["nodes"] == wanted["nodes"]
    assert len(found["reads"]) == len(wanted["reads"])
    for ours, theirs in zip(found["reads"], wanted["reads"], strict=True):
        compare_reads(ours, theirs)


def compare_reads(found: Any, wanted: Any) -> None:
    if isinstance(wanted, dict):
        compare_errors(found, wanted)
        return
    if isinstance(wanted[0], dict):
        compare_errors(found[0], wanted[0])
    else:
        assert found[0] == wanted[0]
    assert found[1] == wanted[1]


@pytest.mark.parametrize("name", reading.DAMAGED)
def test_damage_is_told_as_tensorflow_tells_it(name, folder):
    found = reading.iterated(tf, folder + name, "")
    wanted = real()["damaged"][name]
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        if isinstance(theirs, dict):
            compare_errors(ours, theirs)
        else:
            assert ours == theirs


RECORDS = [record.decode("latin-1") for record in reading.RECORDS]


@pytest.mark.parametrize("compression", reading.COMPRESSIONS)
def test_each_reads_the_records_of_the_other(compression, folder):
    path = folder + reading.record_file(compression)
    assert reading.iterated(tf, path, compression) == RECORDS
    assert real()["records"][compression] == RECORDS
    assert real()["exchanged"][compression] == RECORDS


@pytest.mark.parametrize("compression", reading.COMPRESSIONS)
def test_files_are_those_that_tensorflow_writes(compression, tmp_path):
    path = str(tmp_path / "ours")
    with tf.python_io.TFRecordWriter(path, compression) as writer:
        for record in reading.RECORDS:
            writer.write(record)
    name = reading.record_file(compression)
    assert reading.read(path) == reading.read(os.path.join(reading.WRITTEN, name))


@pytest.mark.parametrize(
    "source",
    [
        *map(reading.csv_call, reading.table(reading.CSV)),
        *reading.table(reading.PARSES + reading.FILE_CALLS),
    ],
)
def test_call_gives_what_tensorflow_gives(source, folder):
    found, wanted = reading.called(tf, source, folder), real()["calls"][source]
    if "error" in wanted:
        is_same = "when" not in wanted and source not in OTHER_WORDS
        compare_errors(found, wanted, exactly=is_same)
        return
    assert "error" not in found, found
    assert found["nodes"] == wanted["nodes"]
    for ours, theirs in zip(found.get("outputs", ()), wanted.get("outputs", ()), strict=True):
        assert ours[:3] == theirs[:3]
        compare_values(ours[3], theirs[3])


def compare_values(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            compare_values(ours, theirs)
    elif isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=1e-7)
    else:
        assert found == wanted

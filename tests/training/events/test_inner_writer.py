"""Events that programs write by pywrap_tensorflow.EventsWriter."""

import os

import pytest

import tfdist as tf
from tfdist.protos import pb
from tfdist.training.events.inner_writer import EventsWriter


def test_events_are_in_a_file_of_that_prefix(tmp_path):
    writer = EventsWriter(os.fsencode(tmp_path / "rates"))
    writer.WriteEvent(pb.Event(step=3))
    writer.Flush()
    path = os.fsdecode(writer.FileName())
    assert os.path.basename(path).startswith("rates.out.tfevents.")
    assert [event.step for event in tf.train.summary_iterator(path)] == [0, 3]
    writer.Close()
    writer.Close()
    assert writer.FileName() == os.fsencode(path)
    with pytest.raises(ValueError, match="was closed"):
        writer.WriteEvent(pb.Event(step=4))


def test_a_suffix_ends_the_name(tmp_path):
    writer = EventsWriter(os.fsencode(tmp_path / "rates"))
    writer.InitWithSuffix(b".mine")
    assert writer.FileName().endswith(b".mine")
    writer.Close()


def test_a_path_is_bytes():
    with pytest.raises(TypeError, match="as_bytes"):
        EventsWriter("rates")

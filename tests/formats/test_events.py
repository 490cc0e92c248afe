"""Event files and what is in summaries: the bytes. What TensorFlow writes: tests/training."""

import numpy as np
import pytest

from tfdist.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfdist.formats import summaries
from tfdist.formats.events import EventFile, make_folder, summary_iterator
from tfdist.formats.tfrecord import TFRecordWriter
from tfdist.protos import pb


def test_files_that_are_none(tmp_path):
    with pytest.raises(NotFoundError):
        next(summary_iterator(str(tmp_path / "nothing")))
    with pytest.raises(FailedPreconditionError):
        next(summary_iterator(str(tmp_path)))


def test_a_record_that_is_no_event(tmp_path):
    path = str(tmp_path / "file")
    with TFRecordWriter(path) as writer:
        writer.write(pb.Event(step=3).SerializeToString())
        writer.write(b"garbage")
    found = summary_iterator(path)
    assert next(found).step == 3
    with pytest.raises(DataLossError, match=r"no event at 18 in .*file"):
        next(found)


def test_what_was_added_can_be_read_while_the_file_is_open(tmp_path):
    make_folder(str(tmp_path / "a" / "b"))
    file = EventFile(str(tmp_path / "a" / "b"))
    try:
        file.append([pb.Event(step=step).SerializeToString() for step in (1, 2)])
        assert [event.step for event in summary_iterator(file.path)] == [0, 1, 2]
    finally:
        file.close()


def test_every_number_is_in_the_bucket_below_whose_limit_it_is():
    rng = np.random.default_rng(3)
    limits = summaries.bucket_limits()
    powers = limits[np.abs(limits) < 1e20]
    numbers = np.concatenate([powers, powers * (1 + 1e-15), rng.normal(size=999) * 1e6])
    made = summaries.histogram(rng.permutation(numbers))
    counts = np.bincount(np.searchsorted(limits, numbers, side="right"), minlength=len(limits))
    told = dict(zip(made.bucket_limit, made.bucket, strict=True))
    assert {limit: n for limit, n in told.items() if n} == {
        limit: n for limit, n in zip(limits.tolist(), counts.tolist(), strict=True) if n
    }
    assert sum(told.values()) == made.num == numbers.size


def test_a_sum_does_not_depend_on_the_parts_it_is_made_of(monkeypatch):
    numbers = np.random.default_rng(0).normal(size=1000)
    whole = summaries.histogram(numbers)
    monkeypatch.setattr(summaries, "_PART", 7)
    assert summaries.histogram(numbers) == whole

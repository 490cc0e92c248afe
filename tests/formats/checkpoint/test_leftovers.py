"""What a process that is killed in a save leaves: who reads and who saves after it copes."""

import os
import shutil
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from tfdist.formats.checkpoint.leftovers import remove_parts
from tfdist.formats.checkpoint.pending_files import PendingFile
from tfdist.formats.checkpoint.reader import CheckpointReader
from tfdist.formats.checkpoint.writer import merge, writing

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


def read_all(prefix):
    with CheckpointReader(prefix) as reader:
        return {name: reader.read(name) for name in reader.names()}


class Killed(BaseException):
    """What ends a save here as the end of its process would: nobody cleans up."""


@contextmanager
def killed_at(monkeypatch, rename):
    """Inside, the rename of that number and all that follow are not done."""
    renames, replace = [], os.replace

    def count(source, target):
        renames.append(source)
        if len(renames) > rename:
            raise Killed
        replace(source, target)

    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(os, "replace", count)
        patched.setattr(PendingFile, "abandon", lambda file: file.file.close())
        yield


def save_whole(prefix, value):
    with writing(prefix) as writer:
        for name in (b"v", b"w"):
            writer.add(name, ROWS + value)


def save_parts(prefix, value):
    folder = f"{prefix}_temp_{value:032x}"
    parts = [f"{folder}/part-0000{shard}-of-00002" for shard in range(2)]
    for name, part in zip((b"v", b"w"), parts, strict=True):
        with writing(part) as writer:
            writer.add(name, ROWS + value)
    merge(parts, prefix)


@pytest.mark.parametrize(("save_all", "renames", "first"), [(save_whole, 2, 1), (save_parts, 9, 7)])
def test_a_save_over_another_one_that_is_killed_leaves_one_of_the_two(
    tmp_path, monkeypatch, save_all, renames, first
):
    """For who reads then, and for who reads when the next save has given files their names.

    The parts are renamed when they are written, and when they are taken; then come the data (the
    `first` of them decides), and the index.
    """
    prefix = str(tmp_path / "m")
    for rename in range(renames):
        save_all(prefix, 1)
        with killed_at(monkeypatch, rename):
            save_all(prefix, 2)
        for turn in ("now", "later"):
            found = read_all(prefix)
            for name in (b"v", b"w"):
                expected = ROWS + (2 if rename >= first else 1)
                np.testing.assert_array_equal(found[name], expected, f"{rename} {turn}")
            save_whole(str(tmp_path / "other"), 0)
        assert not [name for name in os.listdir(tmp_path) if "tempstate" in name]
    save_all(prefix, 1)
    assert not [name for name in os.listdir(tmp_path) if "_temp" in name]


def test_an_index_that_was_put_there_since_is_believed(tmp_path, monkeypatch):
    prefix = str(tmp_path / "m")
    save_whole(prefix, 1)
    with killed_at(monkeypatch, 1):
        save_whole(prefix, 2)
    save_whole(str(tmp_path / "n"), 3)
    for ending in ("index", "data-00000-of-00001"):
        shutil.copy(tmp_path / f"n.{ending}", tmp_path / f"m.{ending}")
    np.testing.assert_array_equal(read_all(prefix)[b"v"], ROWS + 3)


@pytest.mark.parametrize(
    ("folder", "file", "goes"),
    [
        ("m-1", "part-00000-of-00002.index", True),  # of the same checkpoint
        ("m-1", "part-00000-of-00002.data-00000-of-00001.tempstate123", False),  # TensorFlow's
        ("m-1", "notes.txt", False),
        ("m-9", "part-00000-of-00002.index", False),  # of a later one, which may be at work
        ("n-1", "part-00000-of-00002.index", False),
    ],
)
@pytest.mark.parametrize("hours", [0, 2])
def test_folders_of_parts_that_nobody_merges_are_removed(tmp_path, folder, file, goes, hours):
    left = tmp_path / f"{folder}_temp_{'c' * 32}"
    left.mkdir()
    (left / file).write_bytes(b"")
    remove_parts(str(tmp_path / "m-1"), time.time() + 3600 * hours)
    is_old = hours > 1 and folder[0] == "m" and file != "notes.txt"
    assert left.exists() == (not (goes or is_old))


def test_a_folder_of_parts_that_is_written_stays(tmp_path):
    left = tmp_path / f"m_temp_{'c' * 32}"
    left.mkdir()
    with writing(str(left / "part-00000-of-00002")) as writer:
        remove_parts(str(tmp_path / "m"))
        writer.add(b"v", ROWS)
    assert (left / "part-00000-of-00002.index").exists()

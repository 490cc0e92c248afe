"""Checkpoints: the bytes that TensorFlow 1.15.5 and 2.21 write, which are the same, both ways.

`written_checkpoints.py` wrote what is stored in `written_by_1_15`.
"""

import fcntl
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.formats.checkpoint import written_checkpoints
from tfdist.errors import (
    DataLossError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
)
from tfdist.formats.checkpoint import sstable
from tfdist.formats.checkpoint.bundle import open_checkpoint
from tfdist.formats.checkpoint.files import FileSource
from tfdist.formats.checkpoint.reader import CheckpointReader
from tfdist.formats.checkpoint.sstable import Table, TableWriter
from tfdist.formats.checkpoint.tensor_slices import parse_shape_and_slice, slice_key
from tfdist.formats.checkpoint.writer import merge, writing
from tfdist.formats.tfrecord import masked_crc32c
from tfdist.protos import pb

STORED = Path(__file__).with_name("written_by_1_15")
ROWS = written_checkpoints.ROWS


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder of what is written here."""
    folder = tmp_path_factory.mktemp("checkpoints")
    with tf.Graph().as_default():
        written_checkpoints.write(tf, str(folder))
    return folder


@pytest.fixture
def copied(tmp_path):
    """Return the folder with copies of what TensorFlow wrote."""
    return Path(shutil.copytree(STORED, tmp_path / "copied"))


@pytest.mark.parametrize("name", sorted(os.listdir(STORED)))
def test_what_is_written_here_is_what_tensorflow_writes(written, name):
    assert (written / name).read_bytes() == (STORED / name).read_bytes()


def test_nothing_else_is_left(written):
    assert sorted(os.listdir(written)) == sorted(os.listdir(STORED))


@pytest.mark.parametrize("name", ["whole", "old"])
def test_all_types_are_read(name):
    with open_checkpoint(str(STORED / name)) as reader:
        for key, value in written_checkpoints.values().items():
            if name == "whole" or written_checkpoints.in_v1(key):
                found = reader.read(key.encode())
                np.testing.assert_array_equal(found, value)
                assert found.dtype == value.dtype
        names = {each.decode() for each in reader.names()}
    more = {"bfloat16"} if name == "whole" else set()
    assert names | {*written_checkpoints.NOT_IN_V1} == {*written_checkpoints.values(), "bfloat16"}
    assert more <= names


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        pytest.param("slices", "rows", id="parts of rows"),
        pytest.param("slices", "columns", id="parts of columns"),
        pytest.param("merged", "rows", id="parts in two files"),
        pytest.param("whole", "rows", id="a tensor that is whole"),
        pytest.param("old_slices", "columns", id="parts in the old format"),
        pytest.param("old_sharded-?????-of-00002", "rows", id="old files that a pattern names"),
    ],
)
def test_slices_are_cut_as_they_are_wanted(tmp_path, name, tensor):
    prefix = str(STORED / name)
    if name == "whole":
        prefix = save(tmp_path, rows=ROWS)
    with open_checkpoint(prefix) as reader:
        np.testing.assert_array_equal(reader.read(tensor.encode()), ROWS)
        for spec, cut in [("3,2:-", ROWS[3:5]), ("-:2,2", ROWS[:, 2:]), ("4,1:3,1", ROWS[4:5, 3:])]:
            part = parse_shape_and_slice(f"6 4 {spec}").slice
            np.testing.assert_array_equal(reader.read_slice(tensor.encode(), part), cut)


def save(folder, **arrays):
    prefix = str(folder / "m")
    with writing(prefix) as writer:
        for name, array in arrays.items():
            writer.add(name.encode(), array)
    return prefix


def test_slices_that_do_not_suffice_or_overlap(tmp_path):
    with writing(str(tmp_path / "m")) as writer:
        writer.add(b"some", ROWS[:2], parse_shape_and_slice("6 4 0,2:-"))
        for start in (0, 1):
            writer.add(b"twice", ROWS[:2], parse_shape_and_slice(f"6 4 {start},2:-"))
    with open_checkpoint(str(tmp_path / "m")) as reader:
        with pytest.raises(InvalidArgumentError, match=r"sufficient slices .* some .* 0,2:- of"):
            reader.read(b"some")
        with pytest.raises(InternalError, match="Overlapping slices"):
            reader.read(b"twice")


@pytest.mark.parametrize(
    "spec", ["x", "3 0,2:-", "3 2,2", "3 0,0", "3 -1,2", "3 1", "a 0,1"]
)  # fmt: skip
def test_specifications_of_slices_that_are_none(spec):
    with pytest.raises((InvalidArgumentError, InternalError)):
        parse_shape_and_slice(spec)


def test_keys_of_slices_are_ordered_as_numbers_are():
    starts = [0, 1, 63, 64, 8191, 8192, 2**20, 2**27, 2**34, 2**41, 2**48, 2**55, 2**62]
    keys = [slice_key(b"a\0\xff", ((start, -1),)) for start in starts]
    assert keys == sorted(keys)
    assert keys[0].hex(" ") == "00 61 00 ff ff 00 00 01 01 01 80 7f"
    assert keys[-1].endswith(bytes.fromhex("ff c0 40 00 00 00 00 00 00 00 7f"))


def test_tables_of_many_blocks(tmp_path):
    items = [(b"key%05d" % i, bytes([i % 251]) * 700) for i in range(1500)]
    with open(tmp_path / "table", "wb") as file:
        writer = TableWriter(file)
        for item in items:
            writer.add(*item)
        writer.finish()
    with FileSource(str(tmp_path / "table")) as source:
        table = Table(source)
        assert list(table.items()) == items
        assert [table.get(key) for key, _ in items[::300]] == [value for _, value in items[::300]]
        assert table.get(b"key00000x") is table.get(b"z") is None
        assert len(table._index) == 5


# what is damaged


DATA = "whole.data-00000-of-00001"


def damage(path, change):
    data = bytearray(path.read_bytes())
    path.write_bytes(bytes(change(data)))


def flipped(at):
    def change(data):
        data[at] ^= 1
        return data

    return change


def cut(size):
    return lambda data: data[:size]


@pytest.mark.parametrize(
    ("file", "change", "text"),
    [
        pytest.param(DATA, flipped(20), "Checksum does not match", id="data"),
        pytest.param(DATA, cut(20), "truncated: .* has 20", id="short data"),
        pytest.param("whole.index", flipped(30), "block checksum mismatch", id="an index"),
        pytest.param("whole.index", flipped(-1), "bad magic number", id="a format"),
        pytest.param("whole.index", cut(40), "too short .* 40 bytes", id="a short index"),
        pytest.param("whole.index", cut(0), "too short", id="an empty index"),
        pytest.param("old", flipped(30), "block checksum mismatch", id="the old format"),
        pytest.param("old", cut(300), "bad magic number", id="a short file of the old format"),
    ],
)
def test_damage_is_told(copied, file, change, text):
    damage(copied / file, change)
    with pytest.raises(DataLossError, match=text) as raised:
        read_all(copied / file.partition(".")[0])
    assert file.partition(".")[0] in str(raised.value)


def read_all(prefix):
    with open_checkpoint(str(prefix)) as reader:
        return {name: reader.read(name) for name in reader.names()}


def test_damaged_tensors_are_named_and_others_are_read(copied):
    damage(copied / DATA, flipped(-1))
    with CheckpointReader(str(copied / "whole")) as reader:
        with pytest.raises(DataLossError, match=r"tensor 'bfloat16'.*Restore an earlier"):
            reader.read(b"bfloat16")
        assert reader.read(b"scalar") == 7


@pytest.mark.parametrize("file", ["whole.index", "merged.index", "old_slices"])
def test_no_byte_is_beyond_notice(copied, file):
    path = copied / file
    whole, prefix = path.read_bytes(), str(path).removesuffix(".index")
    values = read_all(prefix)
    rng = random.Random(5)
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
        try:
            found = read_all(prefix)
        except OpError:
            continue
        for name, value in values.items():  # it was in a part that says nothing
            np.testing.assert_array_equal(found[name], value)


HUGE = 1 << 60


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"shape": [HUGE], "size": HUGE * 4}, id="more than the file has"),
        pytest.param({"shape": [HUGE], "size": 4}, id="more elements than bytes"),
        pytest.param({"shape": [1], "size": 4, "offset": -4}, id="before the file"),
        pytest.param({"shape": [-1], "size": -4}, id="a negative size"),
        pytest.param({"shape": [1], "size": 4, "shard_id": 9}, id="a file that there is not"),
        pytest.param({"shape": [1], "size": 4, "dtype": 99}, id="a type that there is not"),
        pytest.param({"shape": [0], "size": 0, "dtype": 21}, id="a variant"),
        pytest.param({"shape": [HUGE], "size": 4, "dtype": 7}, id="more strings than bytes"),
        pytest.param({"shape": [HUGE], "slices": [(0, HUGE)]}, id="a slice that is not there"),
    ],
)
def test_what_an_index_says_is_not_believed(tmp_path, entry):
    proto = pb.BundleEntryProto(
        **{"dtype": 1} | {k: v for k, v in entry.items() if k not in ("shape", "slices")}
    )
    for size in entry["shape"]:
        proto.shape.dim.add(size=size)
    for start, length in entry.get("slices", ()):
        proto.slices.add().extent.add(start=start, length=length)
    (tmp_path / "m.data-00000-of-00001").write_bytes(bytes(8))
    with open(tmp_path / "m.index", "wb") as file:
        writer = TableWriter(file)
        writer.add(b"", pb.BundleHeaderProto(num_shards=1).SerializeToString())
        writer.add(b"v", proto.SerializeToString())
        writer.finish()
    with pytest.raises((DataLossError, UnimplementedError)):
        read_all(tmp_path / "m")


def test_compressed_tables_need_a_library(tmp_path, monkeypatch):
    kinds = sstable._TRAILER
    monkeypatch.setattr(sstable, "import_module", _no_library)
    monkeypatch.setattr(sstable, "masked_crc32c", lambda block: masked_crc32c(block[:-1] + b"\1"))
    monkeypatch.setattr(TableWriter, "_write", _compressed(TableWriter._write, kinds))
    prefix = save(tmp_path, v=ROWS)
    monkeypatch.setattr(sstable, "masked_crc32c", masked_crc32c)
    with pytest.raises(UnimplementedError, match=r"Snappy.*pip install python-snappy"):
        CheckpointReader(prefix)


def _no_library(name):
    raise ImportError(name)


def _compressed(write, trailer):
    def compressed(self, block):
        handle = write(self, block)
        self._file.file.seek(-trailer.size, os.SEEK_CUR)
        self._file.file.write(b"\1")
        self._file.file.seek(0, os.SEEK_END)
        return handle

    return compressed


# whole or not at all


@pytest.mark.parametrize("step", range(6))
def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch, step):
    prefix = save(tmp_path, v=ROWS)
    calls = []
    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, _failing(getattr(os, name), calls, step))
    with suppress(ResourceExhaustedError), writing(str(tmp_path / "n")) as writer:
        writer.add(b"v", ROWS + 1)
    monkeypatch.undo()
    np.testing.assert_array_equal(read_all(prefix)[b"v"], ROWS)
    assert not [name for name in os.listdir(tmp_path) if "tempstate" in name]
    assert (tmp_path / "n.index").exists() == (step >= 4)  # 2 fsyncs and 2 renames are needed


def _failing(function, calls, step):
    def call(*arguments):
        calls.append(function)
        if len(calls) == step + 1:
            raise OSError(28, "No space left on device")
        return function(*arguments)

    return call


def test_an_error_inside_leaves_nothing(tmp_path):
    with suppress(InvalidArgumentError), writing(str(tmp_path / "m")) as writer:
        writer.add(b"v", ROWS)
        with pytest.raises(InvalidArgumentError, match="duplicate key: v"):
            writer.add(b"v", ROWS)
        raise InvalidArgumentError("something else")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path):
    dead, alive = (tmp_path / f"m.index.tempstate-{digit * 32}" for digit in "ab")
    other = tmp_path / "m.index.tempstate1234567890123456"
    for path in (dead, alive, other):
        path.write_bytes(b"half")
    with open(alive, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        save(tmp_path, v=ROWS)
    assert (dead.exists(), alive.exists(), other.exists()) == (False, True, True)


def test_merging_refuses_what_is_there_twice(tmp_path):
    for name in ("a", "b"):
        with writing(str(tmp_path / name)) as writer:
            writer.add(b"v", ROWS)
    prefixes = [str(tmp_path / "a"), str(tmp_path / "b")]
    with pytest.raises(InvalidArgumentError, match=r"Duplicate tensor keyed by v .* prefix: .*/b"):
        merge(prefixes, str(tmp_path / "m"))
    with pytest.raises(NotFoundError, match=r"c\.index"):
        merge([str(tmp_path / "c")], str(tmp_path / "m"))
    assert sorted(read_all(prefixes[0])) == [b"v"]


def test_a_checkpoint_that_is_not_there(tmp_path):
    save(tmp_path, v=ROWS)
    with pytest.raises(NotFoundError, match=r"matching files for .*none; checkpoints there: m$"):
        open_checkpoint(str(tmp_path / "none"))

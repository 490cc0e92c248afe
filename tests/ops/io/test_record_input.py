"""RecordInput: every record once in a round, in an order drawn by chance."""

from __future__ import annotations

from itertools import chain

import pytest

import tfdist as tf

RECORDS = sorted(b"%d-%d" % (file, number) for file in range(3) for number in range(5))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def folder(tmp_path):
    """A folder of three files of five records each."""
    for file in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"r{file}")) as writer:
            for record in RECORDS[5 * file : 5 * file + 5]:
                writer.write(record)
    return tmp_path


def batches(count, pattern, **options):
    """Return batches of one session."""
    given = tf.contrib.framework.RecordInput(str(pattern), **options).get_yield_op()
    with tf.Session() as session:
        return [session.run(given).tolist() for _ in range(count)]


@pytest.mark.parametrize("buffer_size", [0, 1, 4, 100])
@pytest.mark.parametrize("parallelism", [0, 1, 2, 16])
def test_a_round_has_every_record_once(folder, buffer_size, parallelism):
    rounds = batches(
        4, folder / "r*", batch_size=15, buffer_size=buffer_size, parallelism=parallelism,
        shift_ratio=0.4, seed=3,
    )  # fmt: skip
    assert [sorted(each) for each in rounds] == [RECORDS] * 4
    assert len(set(map(tuple, rounds))) > 1


def test_a_batch_may_go_into_the_next_round(folder):
    found = list(chain(*batches(5, folder / "r1", batch_size=3, buffer_size=5)))
    assert [sorted(found[at : at + 5]) for at in (0, 5, 10)] == [RECORDS[5:10]] * 3


def test_a_seed_gives_an_order(folder):
    one, same, other = (
        batches(2, folder / "r*", batch_size=9, buffer_size=9, seed=seed) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_batches_of_a_step_take_records_in_turn(folder):
    given = tf.contrib.framework.RecordInput(str(folder / "r1"), batch_size=2, batches=2)
    names = [[each.name for each in batch] for batch in given.get_yield_op()]
    assert names == [["Reshape:0", "Reshape_2:0"], ["Reshape_1:0", "Reshape_3:0"]]
    with tf.Session() as session:
        first, second = session.run(given.get_yield_op())
    assert sorted({*first, *second}) == RECORDS[5:9]


def test_sessions_read_on_their_own(folder):
    given = tf.contrib.framework.RecordInput(str(folder / "r1"), batch_size=5).get_yield_op()
    for _ in range(2):
        with tf.Session() as session:
            assert sorted(session.run(given)) == RECORDS[5:10]


def test_files_may_be_compressed(tmp_path):
    options = tf.python_io.TFRecordOptions("ZLIB")
    with tf.python_io.TFRecordWriter(str(tmp_path / "z"), options) as writer:
        writer.write(b"zip")
    kind = tf.python_io.TFRecordCompressionType.ZLIB
    assert batches(1, tmp_path / "z", batch_size=2, compression_type=kind) == [[b"zip"] * 2]


def test_the_shape_is_not_told(folder):
    given = tf.contrib.framework.RecordInput(str(folder / "r1"), batch_size=5).get_yield_op()
    assert given.shape.ndims is None


@pytest.mark.parametrize(
    ("files", "error", "text"),
    [
        pytest.param({}, tf.errors.NotFoundError, "Found no files at", id="no file"),
        pytest.param({"a": b"x" * 20}, tf.errors.DataLossError, "corrupted record", id="damage"),
        pytest.param({"a": b""}, tf.errors.OutOfRangeError, "have no records", id="empty files"),
    ],
)
def test_what_cannot_be_read(tmp_path, files, error, text):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=text):
        batches(1, tmp_path / "*")


def test_an_error_comes_again_each_time(tmp_path):
    name = tmp_path / "damaged"
    with tf.python_io.TFRecordWriter(str(name)) as writer:
        for _ in range(3):
            writer.write(b"x")
    name.write_bytes(name.read_bytes()[:-3] + b"abc")
    given = tf.contrib.framework.RecordInput(str(name)).get_yield_op()
    with tf.Session() as session:
        assert [session.run(given).tolist() for _ in range(2)] == [[b"x"]] * 2
        for _ in range(3):
            with pytest.raises(tf.errors.DataLossError, match="corrupted record at"):
                session.run(given)


def test_a_batch_has_no_negative_size(folder):
    given = tf.raw_ops.RecordInput(file_pattern=str(folder / "r*"), batch_size=-1)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="batch_size"):
        session.run(given)

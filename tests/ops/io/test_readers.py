"""Readers: their state, their old form, what they say of themselves."""

import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


@pytest.fixture
def queue():
    return tf.FIFOQueue(10, "string", shapes=[()])


def test_state_goes_to_another_session(queue):
    reader = tf.IdentityReader()
    read, told = reader.read(queue), reader.serialize_state()
    state = tf.placeholder("string", [])
    restore, reset = reader.restore_state(state), reader.reset()
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as session:
        session.run(queue.enqueue_many([["a", "b"]]))
        session.run(read)
        session.run(read)
        kept = session.run(told)
        assert kept == b'\x08\x02\x10\x02\x18\x02"\x01b'  # 1.15.5 tells the same
        session.run(reset)
        assert session.run(counts) == [0, 0]
    with tf.Session() as session:
        session.run(restore, {state: kept})
        assert session.run(counts) == [2, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state for Iden"):
            session.run(restore, {state: b"zzzzz"})
        with pytest.raises(tf.errors.InvalidArgumentError, match="work_started = 5"):
            session.run(restore, {state: b"\x08\x05\x10\x02"})


def test_an_unfinished_file_is_read_again(queue, session, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"text")
    reader = tf.WholeFileReader()
    state = b'\x08\x01"' + bytes([len(str(path))]) + str(path).encode()
    session.run(reader.restore_state(state))
    key, value = session.run(reader.read(queue))
    assert (key, value) == (str(path).encode(), b"text")


def test_most_readers_have_no_state(session):
    reader = tf.TextLineReader()
    assert not reader.supports_serialize
    assert tf.WholeFileReader().supports_serialize
    for call in (reader.serialize_state(), reader.restore_state("")):
        with pytest.raises(tf.errors.UnimplementedError, match=r"Reader (Serialize|Restore)State"):
            session.run(call)


def test_queues_that_do_not_fit(session):
    reader = tf.TextLineReader()
    for components, shapes, value, message in [
        ("int32", [()], 3, "Expected queue with single string component"),
        (["string", "string"], [(), ()], ["a", "b"], "Expected single component queue"),
        ("string", [(2,)], [["a", "b"]], "Expected to dequeue a one-element string tensor"),
    ]:
        queue = tf.FIFOQueue(3, components, shapes)
        session.run(queue.enqueue(value))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(reader.read(queue))


def test_reading_goes_on_behind_a_file_that_is_missing(queue, session, tmp_path):
    path = tmp_path / "file"
    path.write_text("line\n")
    for reader in (tf.TextLineReader(), tf.WholeFileReader(), tf.FixedLengthRecordReader(5)):
        value = reader.read(queue).value
        session.run(queue.enqueue_many([["missing", str(path)]]))
        with pytest.raises(tf.errors.NotFoundError, match="missing; No such file or directory"):
            session.run(value)
        assert session.run(value).strip() == b"line"


def test_num_records_must_be_positive(queue, session):
    reader = tf.IdentityReader()
    for number in (0, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_records must be > 0"):
            session.run(reader.read_up_to(queue, number))


def test_old_graphs_spell_the_ops_without_v2(session):
    reader = tf.ReaderBase(tf.raw_ops.IdentityReader())
    produced = reader.num_records_produced()
    assert produced.op.type == "ReaderNumRecordsProduced"
    assert session.run(produced) == 0
    queue = tf.raw_ops.FIFOQueue(component_types=["string"])
    session.run(tf.raw_ops.QueueEnqueue(queue, [tf.constant("x")]))
    read = reader.read(queue)
    assert read.key.op.type == "ReaderRead"
    assert session.run(read) == (b"x", b"x")
    session.run(reader.reset())


def test_a_file_larger_than_what_is_read_at_once(queue, session, tmp_path):
    path = tmp_path / "file"
    lines = [b"x" * (number % 7000) for number in range(300)]
    path.write_bytes(b"\r\n".join(lines))
    session.run(queue.enqueue(str(path)))
    reader = tf.TextLineReader(skip_header_lines=2)
    keys, values = session.run(reader.read_up_to(queue, 1000))
    assert values.tolist() == lines[2:]
    assert keys[0] == f"{path}:3".encode()
    assert keys[-1] == f"{path}:300".encode()


def test_parsed_features_come_in_the_order_of_tensorflows(session):
    """Those of variable length first, whatever the order in which they were wanted."""
    wanted = {"a": tf.FixedLenFeature((), tf.int64, 0), "b": tf.VarLenFeature(tf.int64)}
    assert list(tf.parse_single_example("", wanted)) == ["b", "a"]

"""Readers under several steps at once: none loses a record or a file name."""

import itertools
import threading

import pytest

import tfdist as tf
from tfdist.errors import DataLossError, NotFoundError
from tfdist.runtime.resources.readers import Reader


@pytest.fixture
def files(tmp_path):
    """Return the paths of three files of 40 lines, all of them different."""
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_text("".join(f"{path.name}{number}\n" for number in range(40)))
    return [str(path) for path in paths]


@pytest.fixture
def pipeline():
    """Return (queue of names, reader, what it reads)."""
    queue = tf.FIFOQueue(10, "string", shapes=[()])
    reader = tf.TextLineReader()
    return queue, reader, reader.read(queue).value


def read_all(session, value, into):
    try:
        while True:
            into.append(session.run(value))
    except tf.errors.OutOfRangeError:
        pass


def test_steps_that_read_at_once_lose_nothing(files, pipeline):
    queue, reader, value = pipeline
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    found = [[] for _ in range(4)]
    with tf.Session() as session:
        session.run(queue.enqueue_many([files]))
        session.run(queue.close())
        threads = [threading.Thread(target=read_all, args=(session, value, each)) for each in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert [int(count) for count in session.run(counts)] == [120, 3]
    wanted = [f"{name}{number}".encode() for name in "abc" for number in range(40)]
    assert sorted(itertools.chain(*found)) == sorted(wanted)


def test_a_read_that_is_given_up_takes_no_name_with_it(files, pipeline):
    queue, _, value = pipeline
    in_time = tf.RunOptions(timeout_in_ms=300)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.DeadlineExceededError, match="dequeue on queue"):
                session.run(value, options=in_time)
        session.run(queue.enqueue(files[0]))
        assert session.run(value) == b"a0"
        assert session.run(queue.size()) == 0


def test_who_stands_behind_a_waiting_read_says_so_and_can_give_up(files, pipeline):
    queue, _, value = pipeline
    found = []
    with tf.Session() as session:
        first = threading.Thread(target=lambda: found.append(session.run(value)))
        first.start()
        for _ in iter(lambda: waits_on(session, "dequeue"), True):
            pass
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"waits for its turn at reader"):
            session.run(value, options=tf.RunOptions(timeout_in_ms=300))
        session.run(queue.enqueue(files[0]))
        first.join(30)
        assert found == [b"a0"]
        assert session.run(value) == b"a1"


def waits_on(session, what):
    """Return whether some step in this process waits for `what`."""
    from tfdist.launch.why import report

    return any(what in wait.text for wait in report().waits)


def test_closing_the_session_ends_a_read_that_waits(pipeline):
    _, _, value = pipeline
    errors = []

    def read():
        with pytest.raises(tf.errors.CancelledError) as raised:
            session.run(value)
        errors.append(raised.value)

    session = tf.Session()
    thread = threading.Thread(target=read)
    thread.start()
    for _ in iter(lambda: waits_on(session, "dequeue"), True):
        pass
    session.close()
    thread.join(30)
    assert len(errors) == 1


def test_counts_do_not_wait_for_a_read_that_waits(files, pipeline):
    queue, reader, value = pipeline
    produced = reader.num_records_produced()
    with tf.Session() as session:
        thread = threading.Thread(target=lambda: session.run(value))
        thread.start()
        for _ in iter(lambda: waits_on(session, "dequeue"), True):
            pass
        assert session.run(produced) == 0
        session.run(queue.enqueue(files[0]))
        thread.join(30)
        assert session.run(produced) == 1


def test_sessions_of_a_server_share_a_reader_and_containers_forget_it(files, pipeline):
    queue, _, value = pipeline
    server = tf.train.Server({"local": ["localhost:0"]})
    try:
        with tf.Session(server.target) as session:
            session.run(queue.enqueue_many([files]))
            assert session.run(value) == b"a0"
        with tf.Session(server.target) as session:
            assert session.run(value) == b"a1"
        tf.Session.reset(server.target)
        with tf.Session(server.target) as session:
            session.run(queue.enqueue(files[2]))
            assert session.run(value) == b"c0"
    finally:
        server.stop()


def test_a_name_belongs_to_one_kind_of_reader():
    with tf.Session() as session:
        raw = tf.raw_ops
        handles = [
            raw.TextLineReaderV2(shared_name="one"), raw.WholeFileReaderV2(shared_name="one"),
        ]  # fmt: skip
        session.run(raw.ReaderResetV2(handles[0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="exists as a TextLineReader"):
            session.run(raw.ReaderResetV2(handles[1]))


def lines_then(error):
    yield b"k", b"1"
    yield b"k", b"2"
    raise error


def test_what_came_before_an_error_is_given_first():
    reader = Reader("Kind", "name", lambda work: lines_then(NotFoundError("gone")))
    reader.begin(b"x")
    assert len(reader.next(5)) == 2
    with pytest.raises(NotFoundError):
        reader.next(5)
    assert reader.next(5) == []
    assert reader.state.finished == 0


def test_damage_stays_until_the_reader_is_reset():
    reader = Reader("Kind", "name", lambda work: lines_then(DataLossError("corrupted")))
    reader.begin(b"x")
    assert len(reader.next(2)) == 2
    for _ in range(3):
        with pytest.raises(DataLossError, match="corrupted"):
            reader.next(1)
    reader.reset()
    assert reader.next(1) == []

"""FileWriter: what 1.15.5 writes, a thread that ends, and errors that are told."""

import gc
import os
import subprocess
import sys
import threading

import pytest

import tfdist as tf
from tests.training.events import written_events
from tfdist.errors import NotFoundError, OpError, ResourceExhaustedError
from tfdist.formats import events as event_files


def events(folder):
    """Return the events of all files in a folder."""
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    return [event for path in paths for event in tf.train.summary_iterator(path)]


def one(value=1.0, tag="a", **fields):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value, **fields)])


def steps(folder):
    return [event.step for event in events(folder) if event.WhichOneof("what") == "summary"]


def threads():
    return [each for each in threading.enumerate() if each.name == "FileWriter"]


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "logs")


# what is written


def described(event):
    """Return an event as text, without what is a matter of the moment or of a library."""
    kind = event.WhichOneof("what")
    if kind in ("graph_def", "meta_graph_def"):
        return event.step, kind, nodes(event)
    for value in event.summary.value:
        if value.WhichOneof("value") == "image":
            value.image.encoded_image_string = b""  # test_summaries.py compares the pixels
    event.wall_time = 0.0
    return str(event)


def nodes(event):
    """Return names, ops, devices, inputs and shapes of the nodes in an event."""
    if event.WhichOneof("what") == "graph_def":
        graph = tf.GraphDef.FromString(event.graph_def)
    else:
        graph = tf.MetaGraphDef.FromString(event.meta_graph_def).graph_def
    return [
        (n.name, n.op, n.device, list(n.input), str(n.attr["_output_shapes"])) for n in graph.node
    ]


def test_the_same_program_writes_the_same_events(folder):
    written_events.write(tf, folder)
    wanted = list(tf.train.summary_iterator(written_events.STORED))
    assert [described(each) for each in events(folder)] == [described(each) for each in wanted]


def test_the_name_tells_second_and_host(folder):
    with tf.summary.FileWriter(folder, filename_suffix=".mine") as writer:
        writer.add_summary(one())
    [name] = os.listdir(folder)
    first = events(folder)[0]
    assert name.startswith(f"events.out.tfevents.{int(first.wall_time):010}.")
    assert name.endswith(".mine")
    assert first.file_version == "brain.Event:2"


def test_two_writers_of_one_second_have_two_files(folder):
    writers = [tf.summary.FileWriter(folder) for _ in range(3)]
    for step, writer in enumerate(writers):
        writer.add_summary(one(), step)
        writer.close()
    assert len(os.listdir(folder)) == 3
    assert steps(folder) == [0, 1, 2]


def test_without_an_event_there_is_no_file_and_no_thread(folder):
    writer = tf.summary.FileWriter(folder)
    assert threads() == []
    writer.flush()
    writer.close()
    assert os.listdir(folder) == []


def test_how_a_tag_is_shown_is_written_once_for_a_file(folder):
    metadata = tf.SummaryMetadata(display_name="A")
    writer = tf.summary.FileWriter(folder)
    given = one(metadata=metadata)
    for step in range(2):
        writer.add_summary(given, step)
    writer.add_summary(one(tag="b", metadata=metadata), 2)
    writer.close()
    writer.reopen()
    writer.add_summary(given.SerializeToString(), 3)
    writer.close()
    told = [v.HasField("metadata") for event in events(folder) for v in event.summary.value]
    assert told == [True, False, True, True]
    assert given.value[0].HasField("metadata")  # the caller's own message is left alone


def test_closed_writers_write_nothing_and_may_be_reopened(folder, caplog):
    writer = tf.summary.FileWriter(folder)
    writer.add_summary(one(), 1)
    writer.reopen()
    writer.close()
    writer.close()
    writer.add_summary(one(), 2)
    assert "reopen" in caplog.text
    writer.flush()
    writer.reopen()
    writer.add_summary(one(), 3)
    writer.close()
    assert steps(folder) == [1, 3]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda w: w.add_summary(3), TypeError),
        (lambda w: w.add_summary(tf.Event()), TypeError),
        (lambda w: w.add_summary(b"garbage"), ValueError),
        (lambda w: w.add_summary(one(), "x"), ValueError),
        (lambda w: w.add_event(3), TypeError),
        (lambda w: w.add_graph(None), TypeError),
        (lambda w: w.add_graph(tf.Graph(), graph_def=tf.GraphDef()), ValueError),
        (lambda w: w.add_meta_graph(tf.GraphDef()), TypeError),
        (lambda w: w.add_run_metadata(3, "t"), TypeError),
        (lambda w: [w.add_run_metadata(tf.RunMetadata(), "t") for _ in range(2)], ValueError),
    ],
)
def test_what_cannot_be_written_is_an_error_at_once(folder, call, error):
    with tf.summary.FileWriter(folder) as writer, pytest.raises(error):
        call(writer)


def test_old_programs_pass_a_graph_def(folder):
    tf.constant(1.0, name="x")
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.train.SummaryWriter(folder, graph_def) as writer:
        assert writer.get_logdir() == folder
    with tf.train.SummaryWriter(folder.encode(), graph_def=graph_def) as writer:
        assert writer.get_logdir() == folder.encode()
    found = [nodes(each)[0][0] for each in events(folder) if each.WhichOneof("what") == "graph_def"]
    assert found == ["x", "x"]


def test_the_cache_has_one_writer_for_a_folder(folder):
    writer = tf.summary.FileWriterCache.get(folder)
    assert tf.summary.FileWriterCache.get(folder) is writer
    tf.summary.FileWriterCache.clear()
    other = tf.summary.FileWriterCache.get(folder)
    assert other is not writer
    tf.summary.FileWriterCache.clear()
    assert threads() == []


# the thread


@pytest.mark.parametrize("max_queue", [1, 2, 10, 0])
def test_everything_is_written_in_order(folder, max_queue):
    with tf.summary.FileWriter(folder, max_queue=max_queue) as writer:
        for step in range(200):
            writer.add_summary(one(), step)
    assert steps(folder) == list(range(200))


def test_flush_returns_when_all_is_written(folder):
    with tf.summary.FileWriter(folder) as writer:
        for step in range(3):
            writer.add_summary(one(), step)
            writer.flush()
            assert steps(folder) == list(range(step + 1))


def test_time_flushes(folder):
    with tf.summary.FileWriter(folder, flush_secs=0) as writer:
        written = threading.Event()
        append = event_files.EventFile.append
        for step in range(2):
            written.clear()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    event_files.EventFile, "append",
                    lambda file, data: (append(file, data), written.set()),
                )  # fmt: skip
                writer.add_summary(one(), step)
                assert written.wait(10)


def test_many_threads_may_add(folder):
    with tf.summary.FileWriter(folder, max_queue=3) as writer:
        adding = [
            threading.Thread(target=lambda i=i: [writer.add_summary(one(), i) for _ in range(50)])
            for i in range(4)
        ]
        for thread in adding:
            thread.start()
        for thread in adding:
            thread.join()
    assert sorted(steps(folder)) == sorted(list(range(4)) * 50)


def test_a_writer_that_is_dropped_writes_what_is_left(folder):
    writer = tf.summary.FileWriter(folder)
    for step in range(4):
        writer.add_summary(one(), step)
    del writer
    gc.collect()
    assert threads() == []
    assert steps(folder) == list(range(4))


@pytest.mark.parametrize("end", ["", "raise KeyboardInterrupt", "1 / 0"])
def test_the_end_of_a_process_writes_what_is_left(folder, end):
    program = f"""
import tfdist as tf
writer = tf.summary.FileWriter({folder!r})
for step in range(4):
    writer.add_summary(tf.Summary(), step)
{end}
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, stderr=subprocess.DEVNULL)
    assert steps(folder) == list(range(4))


def test_a_forked_process_does_not_wait_for_a_thread_that_it_has_not(folder):
    program = f"""
import os
import tfdist as tf
writer = tf.summary.FileWriter({folder!r}, max_queue=2)
writer.add_summary(tf.Summary(), 1)
writer.flush()
if os.fork() == 0:
    try:
        for _ in range(5):
            writer.add_summary(tf.Summary(), 2)
    except tf.errors.FailedPreconditionError as error:
        os._exit("fork" in str(error))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    assert done.stdout == b"1\n"
    assert steps(folder) == [1]


# errors


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OpError, match="file"):
        tf.summary.FileWriter(str(tmp_path / "file"))
    with pytest.raises(OpError, match="file"):
        tf.summary.FileWriter(str(tmp_path / "file" / "inside"))
    with pytest.raises(TypeError):
        tf.summary.FileWriter(None)


@pytest.mark.parametrize("call", ["add_summary", "flush", "close"])
def test_a_removed_file_is_told_once(folder, call, caplog):
    writer = tf.summary.FileWriter(folder, max_queue=1, flush_secs=0)
    writer.add_summary(one(), 1)
    writer.flush()
    tf.gfile.DeleteRecursively(folder)
    writer.add_summary(one(), 2)

    def go_on():
        for _ in range(3 if call == "add_summary" else 1):
            getattr(writer, call)(*([one(), 3] if call == "add_summary" else []))

    told = r"tfevents.* removed it \(events that are not written: \d\)"
    with pytest.raises(NotFoundError, match=told):
        go_on()
    writer.add_summary(one(), 4)
    assert "closed" in caplog.text
    writer.close()
    assert threads() == []


def test_a_full_disk_is_told_and_leaves_whole_records(folder, monkeypatch):
    room = [300]

    def write(file, data):
        """Write as a disk does that is full soon: a part, then nothing."""
        size = min(len(data), room[0])
        room[0] -= size
        if not size:
            raise OSError(28, "No space left on device")
        return os.write(file.fileno(), data[:size])

    disk = type("Disk", (event_files.FileIO,), {"write": write})
    monkeypatch.setattr(event_files, "FileIO", disk)
    writer = tf.summary.FileWriter(folder)

    def fill():
        for step in range(30):
            writer.add_summary(one(), step)
            writer.flush()

    with pytest.raises(ResourceExhaustedError, match="No space left on device"):
        fill()
    found = steps(folder)
    assert 0 < len(found) < 30
    assert found == list(range(len(found)))


def test_an_error_that_no_call_is_left_to_raise_is_logged(folder, caplog):
    writer = tf.summary.FileWriter(folder)
    tf.gfile.DeleteRecursively(folder)
    writer.add_summary(one(), 1)
    del writer
    gc.collect()
    assert "No such file or directory" in caplog.text


def test_ctrl_c_in_a_full_line_loses_nothing_that_was_added(folder):
    program = f"""
import _thread, threading
import tfdist as tf
from tfdist.formats.events import EventFile
append, gate = EventFile.append, threading.Event()
def slow(file, data):
    if not gate.is_set():
        _thread.interrupt_main()
    gate.wait(20)
    append(file, data)
writer = tf.summary.FileWriter({folder!r}, max_queue=2)
writer.add_summary(tf.Summary(), 0)
writer.flush()
EventFile.append = slow
added = 0
try:
    while True:
        writer.add_summary(tf.Summary(), added + 1)
        added += 1
except KeyboardInterrupt:
    gate.set()
writer.close()
print(added)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    added = int(done.stdout)
    assert steps(folder) in [list(range(n + 1)) for n in (added, added + 1)]

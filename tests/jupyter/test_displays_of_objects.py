"""Cards of what a person looks at: equal twins, nothing random, and never an error."""

import importlib
import re
import time

import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE
from tfdist.graph.scopes import reset_default_graph
from tfdist.jupyter import formatters
from tfdist.jupyter.bundles import Style
from tfdist.jupyter.displays.cards import bytes_text, counted, listed, rows_table
from tfdist.session.device_lib import list_local_devices


def show_of(value):
    """Return what shows a value, as IPython finds it."""
    names = ((cls.__module__, cls.__name__) for cls in type(value).__mro__)
    return next(formatters.DISPLAYS[name] for name in names if name in formatters.DISPLAYS)


def bundle_of(value, style=None):
    return formatters.shown(show_of(value), value, style or Style()).data


def text_of(value, style=None):
    return bundle_of(value, style)["text/plain"]


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """Return a thing of each kind, by its name."""
    reset_default_graph()
    folder = tmp_path_factory.mktemp("checkpoints")
    made = {"coordinator": tf.train.Coordinator()}
    with tf.device("/job:localhost"):
        made["variable"] = tf.Variable([[1.0, 2.0]], name="v")
    made["resource variable"] = tf.Variable(1.0, name="r", use_resource=True)
    split = tf.fixed_size_partitioner(3)
    made["partitioned variable"] = tf.get_variable("p", [10, 4], partitioner=split)
    made["tensor"] = tensor = tf.matmul(made["variable"], [[1.0], [2.0]], name="product")
    made["operation"] = tensor.op
    made["queue"] = tf.FIFOQueue(3, ["float32", "int32"], [[], [2]], names=["a", "b"], name="q")
    put = made["queue"].enqueue({"a": 1.0, "b": [1, 2]})
    made["shuffling queue"] = tf.RandomShuffleQueue(10, 2, tf.string, [[]], name="mixed")
    made["reader"] = tf.TextLineReader(skip_header_lines=1)
    numbers = tf.data.Dataset.range(10).map(lambda x: (x, x * 2)).shuffle(4, seed=1)
    made["dataset"] = tf.data.Dataset.zip((numbers.batch(3), tf.data.Dataset.range(2)))
    made["iterator"] = made["dataset"].make_initializable_iterator()
    made["sparse tensor"] = tf.SparseTensor([[0, 1]], [1.0], [3, 4])
    made["slices"] = tf.gradients(
        tf.reduce_sum(tf.gather(made["variable"], [0])), tf.trainable_variables()[:1]
    )[0]
    made["optimizer"] = tf.train.AdamOptimizer(0.01)
    made["optimizer"].minimize(
        tf.reduce_sum(tf.square(tensor)), tf.train.get_or_create_global_step()
    )
    made["session"] = session = tf.Session()
    session.run([tf.global_variables_initializer(), put])
    made["saver"] = tf.train.Saver(max_to_keep=2)
    path = made["saver"].save(session, str(folder / "model"), global_step=7)
    made["checkpoint"] = tf.train.NewCheckpointReader(path)
    made["checkpoint state"] = tf.train.get_checkpoint_state(str(folder))
    made["runner"] = tf.train.QueueRunner(made["queue"], [put] * 2)
    made["graph"] = graph = tf.get_default_graph()
    made["graph def"] = graph.as_graph_def()
    made["meta graph"] = tf.train.export_meta_graph()
    made["node def"] = tensor.op.node_def
    made["config"] = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2})
    made["empty config"] = tf.ConfigProto()
    made["options"] = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    made["devices"] = session.list_devices()
    made["device messages"] = list_local_devices()
    made["placed nodes"] = session.placement(tensor)
    made["summary"] = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.25)])
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        made["supervisor"] = tf.train.Supervisor(logdir=None)
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        with tf.train.MonitoredTrainingSession() as made["monitored session"]:
            pass
    yield made
    session.close()
    reset_default_graph()


# what is told, of each
WORDS = {
    "coordinator": ["running: no stop was asked for"],
    "variable": ["v:0", "float32", "(1, 2)", "reference variable", "/job:localhost", "8 bytes"],
    "resource variable": ["r:0", "resource variable", "yes"],
    "partitioned variable": ["(10, 4)", "3 x 1", "p/part_2:0", "48 bytes"],
    "tensor": ["product:0", "MatMul", "v/read:0", "Square", "test_displays_of_objects.py:"],
    "operation": ["product", "transpose_a", "float32 (1, 2)"],
    "queue": ["FIFOQueue", "1 of 3 elements, open", "(2,)", "int32"],
    "shuffling queue": ["min after dequeue", "not made yet, or in another process", "string"],
    "reader": ["TextLineReader", "skip header lines"],
    "dataset": ["RangeDataset", "MapDataset", "BatchDatasetV2", "batch_size=3", "int64 (?,)"],
    "iterator": ["ZipDataset", "MakeIterator", "called 0 times"],
    "sparse tensor": ["int64 (1, 2)", "dense_shape"],
    "slices": ["IndexedSlices", "int32 (1,)"],
    "optimizer": ["AdamOptimizer", "lr", "0.01", "v/Adam_1:0"],
    "session": ["open", "this process", "/device:CPU:0", "2 steps of"],
    "saver": ["2 checkpoints", "all variables", "model-7", "V2"],
    "checkpoint": ["model-7", "v/Adam_1", "(10, 4)", "160 bytes", "int64"],
    "checkpoint state": ["model-7", "1 checkpoint"],
    "runner": ["2 threads for each session", "QueueEnqueue", "no session"],
    "graph": ["nodes", "Const", "global_step:0", "/job:localhost"],
    "graph def": ["product", "print() shows all of it", "MatMul"],
    "meta graph": ["trainable_variables", "bytes_list", "Const"],
    "node def": ["MatMul", "transpose_b", "v/read"],
    "config": ["allow_soft_placement", "CPU: 2"],
    "empty config": ["none is set"],
    "options": ["FULL_TRACE"],
    "devices": ["1 device", "/job:localhost/replica:0/task:0/device:CPU:0", "GiB"],
    "device messages": ["/device:CPU:0"],
    "placed nodes": ["pinned to /job:localhost", "MatMul"],
    "summary": ["loss", "scalar", "0.25"],
    "supervisor": ["chief", "none: nothing is saved", "global_step:0"],
    "monitored session": ["closed"],
}


@pytest.mark.parametrize("name", WORDS)
def test_it_is_told_what_a_thing_is(things, name):
    text = text_of(things[name])
    for words in WORDS[name]:
        assert words in text


@pytest.mark.parametrize("name", sorted(WORDS))
def test_text_and_html_say_the_same_and_nothing_random(things, name):
    data = bundle_of(things[name])
    html, text = data["text/html"], data["text/plain"]
    shown = re.sub(r"<[^>]+>", " ", html).replace("&#9632;", "").split()
    told = re.sub(r"(?m)^-[- ]*$", "", text)  # the lines below headers
    assert sorted(shown) == sorted(_escaped(told).split())
    assert not re.search(r"0x[0-9a-f]{6}|<style|<script|<svg|\bid=|var\(", html)
    assert data == bundle_of(things[name])


def _escaped(text):
    for sign, name in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("'", "&#x27;"),
    ):
        text = text.replace(sign, name)
    return text


@pytest.mark.parametrize(("module", "name"), sorted(formatters.DISPLAYS))
def test_a_broken_thing_is_shown_too(module, name):
    cls = getattr(importlib.import_module(module), name)
    try:
        broken = object.__new__(cls)
    except TypeError:  # a tuple, a list or a message: nothing in it is as it should be
        broken = cls.__new__(cls, *[None] * len(getattr(cls, "_fields", ())))
    data = formatters.shown(formatters.DISPLAYS[module, name], broken, Style()).data
    assert data["text/plain"]
    assert data["text/html"]


def test_without_times_nothing_depends_on_the_host(things):
    assert "GiB" not in text_of(things["devices"], Style(times=False))


def test_what_is_long_is_cut(things):
    short = text_of(things["graph def"], Style(most_rows=3))
    assert len(short.splitlines()) < 25
    assert "more rows" in short


def test_a_coordinator_tells_why_it_stops():
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(ValueError("no paper"))
    text = text_of(coordinator)
    assert "a stop was asked for" in text
    assert "ValueError: no paper" in text


def test_a_queue_tells_who_waits(notebook):
    notebook.run("%cluster start ps=1 worker=1 -q")
    notebook.run(
        "import tfdist as tf\n"
        "with tf.device('/job:ps'):\n"
        "    q = tf.FIFOQueue(1, tf.int32, [[]], name='q')\n"
        "sess = tf.Session(cluster.target())\n"
        "sess.run(q.enqueue(1)); sess.run(q.close())"
    )
    text = text_of(notebook.value("q"))
    assert "in /job:ps/replica:0/task:0  1 of 1 elements, closed" in text
    assert "/job:worker/task:0" in text_of(notebook.value("sess"))
    notebook.run("sess.close()\n%cluster stop -q")
    assert "closed" in text_of(notebook.value("sess"))


def test_a_queue_in_another_process_says_how_to_ask(notebook):
    notebook.run("%cluster start worker=1 --processes -q")
    notebook.run(
        "import tfdist as tf\nq = tf.FIFOQueue(1, tf.int32, [[]], name='far_away')\n"
        "sess = tf.Session(cluster.target())\nsess.run(q.enqueue(1))"
    )
    assert "or in another process: session.run(queue.size())" in text_of(notebook.value("q"))
    notebook.run("sess.close()\n%cluster stop -q")


def test_lists_of_ours_are_tables_and_others_are_not(notebook):
    notebook.run("import tfdist as tf\nx = tf.constant(1, name='x')\nsess = tf.Session()")
    session = notebook.value("sess")
    for value, words in (
        (session.placement(), "Placement of 1 node"),
        (session.list_devices(), "1 device"),
    ):
        data = notebook.shell.display_formatter.format(value)[0]
        assert data["text/plain"].startswith(words)
        assert words in data["text/html"]
        inside = notebook.shell.display_formatter.format([value])[0]
        assert inside == {"text/plain": repr([value])} or list(inside) == ["text/plain"]
    assert notebook.shell.display_formatter.format([1])[0] == {"text/plain": "[1]"}
    session.close()


def test_unloading_leaves_no_display(notebook):
    notebook.run("import tfdist as tf\nx = tf.constant(1, name='x')\n%unload_ext tfdist")
    data = notebook.shell.display_formatter.format(notebook.value("x"))[0]
    assert data == {"text/plain": "<tf.Tensor 'x:0' shape=() dtype=int32>"}


def test_a_lost_server_does_not_hang_a_display(notebook):
    notebook.run("%cluster start worker=1 --processes -q")
    notebook.run(
        "import tfdist as tf\nx = tf.constant(1)\nsess = tf.Session(cluster.target())\n"
        "sess.run(x)\ncluster.kill('worker:0')"
    )
    began = time.monotonic()
    assert "open" in text_of(notebook.value("sess"))
    assert time.monotonic() - began < PATIENCE  # less than a session waits for a server
    notebook.run("sess.close()\n%cluster stop -q")


def test_words_for_counts():
    assert [counted(1, "node"), counted(2000, "node"), counted(2, "entry")] == [
        "1 node", "2,000 nodes", "2 entries"
    ]  # fmt: skip
    assert listed("abcdefgh", 3) == "a, b, c and 5 more"
    assert [bytes_text(10), bytes_text(3 << 20), bytes_text(None)] == [
        "10 bytes", "3.0 MiB", "unknown"
    ]  # fmt: skip
    assert rows_table(("a",), [("1",), ("2",)], Style(most_rows=1)).note == "... and 1 more row"

"""Calls of `tf.summary` and `tf.train`'s global steps: what a TensorFlow makes of them, as JSON.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15 says:

    python -m tests.training.events.summary_lines "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import json
import os
import shlex
import subprocess
import sys
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_summaries_1_15.json")

# `T` is tf.summary, `raw` is tf.raw_ops, `c` is tf.constant, `noise` makes an array.
LINES = """
T.scalar("loss", 1.5)
T.scalar("a b/c d", 1.5)
T.scalar("/a:b", 1.5)
T.scalar("a//b", 1.5)
T.scalar("a/", 1.5)
T.scalar("a", 1.5, family="fam")
T.scalar("a", 1.5, family="fam/x y")
T.scalar("a", [1.5, 2.5])
T.scalar("a", [[1.0]])
T.scalar("a", 3, collections=["x", "y"])
T.scalar("a", 3, collections=[])
T.scalar("a", np.float64(0.1))
T.scalar("a", float("nan"))
T.scalar("a", c(1e300, tf.float64))
T.scalar("a", c(2.5, tf.bfloat16))
T.scalar("a", c(250, tf.uint8))
T.scalar("a", True)
T.scalar("", 1.0)
T.scalar("-", 1.0)
T.scalar("//", 1.0)
T.scalar(None, 1.0)
T.scalar(b"abc", 1.0)
T.scalar("a", 1.0, family="")
[T.scalar("a", 1.0), T.scalar("a", 2.0)]
[T.scalar("x", 1.0, family="f"), T.scalar("x", 2.0, family="f")]
in_scope("outer", lambda: T.scalar("x", 1.0, family="f"))
in_scope("outer", lambda: T.merge([T.scalar("x", 1.0)]))
raw.ScalarSummary(tags=["a", "b"], values=[1.0, 2.0])
raw.ScalarSummary(tags=["a", "b"], values=[[1.0, 2.0]])
raw.ScalarSummary(tags="a", values=[1.0])
T.histogram("h", [1.0, 2.0, 3.0])
T.histogram("h", [1, 2, 3], family="q")
T.histogram("h", [])
T.histogram("h", 5.0)
T.histogram("h", [0.0])
T.histogram("h", [-0.0, 1e-12, -1e-12, 1.1e-12])
T.histogram("h", c([-1.0, 0.0, 1.0, 1e-13, -1e-13, 1e300, 1e-12], tf.float64))
T.histogram("h", c([1e-320, 1e300, -1e300, 1e20, -1e20, 9.920775621859783e+19], tf.float64))
T.histogram("h", [1.0, float("nan")])
T.histogram("h", [1.0, float("inf"), float("nan")])
T.histogram("h", [float("nan"), float("inf")], family="f")
T.histogram("h", c([1, 2], tf.bfloat16))
T.histogram("h", c([1, 2.5], tf.float16))
T.histogram("h", c([[1, 2], [3, 250]], tf.uint8))
T.histogram("h", c([[1, 2], [3, 4]], tf.uint16))
T.histogram("h", c([-7, 7], tf.int8))
T.histogram("h", c([-2**63, 2**63 - 1], tf.int64))
T.histogram("h", c([True]))
T.histogram("h", c([1], tf.complex64))
T.histogram("h", c(noise(5000)))
T.histogram("h", c(noise(5000) * noise(5000) * noise(5000)))
T.histogram("h", c(noise(5000, np.float64) * 1e-9))
T.histogram("h", c(noise(3000).reshape(10, 300)))
raw.HistogramSummary(tag=["a"], values=[1.0])
T.merge([T.scalar("a", 1.0), T.histogram("h", [2.0])])
T.merge((T.scalar("a", 1.0),), collections=["k"], name="mm")
T.merge([T.scalar("a", 1.0), c(b"\\n\\x08\\n\\x01a\\x15\\x00\\x00\\x00@")])
T.merge([raw.TensorSummary(tensor=1.0), raw.TensorSummary(tensor=2.0)])
T.merge([raw.TensorSummary(tensor=1.0, name="n"), c(b"\\n\\x03:\\x01n")])
T.merge([raw.TensorSummary(tensor=1.0, name="n"), T.scalar("n", 1.0), T.scalar("n_1", 1.0)])
T.merge([c(b""), c([b"", b"\\n\\x08\\n\\x01a\\x15\\x00\\x00\\x00@"])])
T.merge([])
T.merge([c("garbage")])
T.merge([c(1.0)])
T.merge(T.scalar("x", 1.0))
T.merge({T.scalar("x", 1.0)})
T.merge_all()
T.merge_all(scope="zz")
[T.scalar("a", 1.0), T.scalar("b/c", 1.0), T.merge_all()]
[T.scalar("a", 1.0), T.scalar("b/c", 1.0), T.merge_all(scope="b")]
[T.scalar("a", 1.0, collections=["k"]), T.merge_all("k", name="z")]
T.text("t", c("hello"))
T.text("t", c([["hello", "x"]]))
T.text("a b/c", c("x"), collections=["k"])
T.text("t", c(1.0))
T.tensor_summary("ts", [1.0, 2.0])
T.tensor_summary("ts", ["a", "b"])
T.tensor_summary("ts", [[1, 2]], summary_description="desc", display_name="dn", family="ff")
T.tensor_summary("ts", [1, 2], summary_metadata=plugin("pp", b"cc"), display_name="dn")
raw.TensorSummary(tensor=[1.0, 2.0], description="{}", labels=["x"], display_name="dd")
raw.TensorSummaryV2(tag="a/b", tensor=True, serialized_summary_metadata="")
raw.TensorSummaryV2(tag="a/b", tensor=True, serialized_summary_metadata="garbage")
raw.TensorSummaryV2(tag=["a/b"], tensor=True, serialized_summary_metadata="")
T.get_summary_description(raw.TensorSummary(tensor=1.0, description='{"type_hint":"x"}').op.node_def).type_hint
T.get_summary_description(c(1).op.node_def)
T.image("i", c(np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3)))
T.image("i", c(np.arange(40, dtype=np.uint8).reshape(5, 2, 4, 1)))
T.image("i", c(np.arange(16, dtype=np.uint8).reshape(2, 2, 1, 4)), max_outputs=1)
T.image("i", c(abs(noise(2 * 3 * 5 * 3)).reshape(2, 3, 5, 3)))
T.image("i", c(noise(2 * 3 * 5 * 1).reshape(2, 3, 5, 1)))
T.image("i", c(noise(3 * 5 * 4, np.float64).reshape(1, 3, 5, 4)))
T.image("i", c(noise(3 * 5, np.float16).reshape(1, 3, 5, 1)))
T.image("i", c(-abs(noise(3 * 5)).reshape(1, 3, 5, 1)))
T.image("i", c(abs(noise(6, np.float64)).reshape(1, 3, 2, 1)))
T.image("i", c(noise(6).reshape(1, 3, 2, 1) * 1e-9))
T.image("i", [[[[1.0], [2.0]]]], family="f", collections=["k"])
T.image("i", [[[[0.0], [0.0]]]])
T.image("i", [[[[-0.0], [float("nan")]]]])
T.image("i", [[[[float("nan")] * 3, [float("inf"), 1.0, 2.0], [-1.0, 3.0, 4.0]]]])
T.image("i", c([[[[3e38], [-3e38], [1e38]]]]))
T.image("i", c(np.zeros((1, 2, 2, 2), np.uint8)))
T.image("i", c(np.zeros((2, 2, 1), np.uint8)))
T.image("i", c(np.zeros((0, 2, 2, 1), np.uint8)))
T.image("i", c(np.zeros((1, 0, 2, 1), np.uint8)))
T.image("i", c(np.zeros((1, 2, 2, 1), np.uint8)), max_outputs=0)
T.image("i", c(np.zeros((1, 2, 2, 1), np.int32)))
raw.ImageSummary(tag=["i"], tensor=c(np.zeros((1, 2, 2, 1), np.uint8)))
raw.ImageSummary(tag="", tensor=c(np.zeros((1, 2, 2, 1), np.uint8)))
raw.ImageSummary(tag="i", tensor=[[[[float("nan")], [1.0]]]], bad_color=color(7))
raw.ImageSummary(tag="i", tensor=[[[[1.0] * 3]]], bad_color=color(7))
T.audio("a", [[0, 0.5, -0.5, 1, -1, 2, -2, 0.1, 0.3, 1e-5, 2e-5, float("nan"), float("inf")]], 44100.0)
T.audio("a", [[x / 65536 for x in range(-9, 10)]], 44100.0)
T.audio("a", c(noise(12).reshape(2, 3, 2)), 44100.0)
T.audio("a", c(noise(12).reshape(4, 3, 1)), 44100.0, max_outputs=2)
T.audio("a", c(noise(12).reshape(4, 3)), 44100, max_outputs=1)
T.audio("a", [[0.0, 1.0]], 8000.7, family="f", collections=["k"])
T.audio("a", [[0.0, 1.0]], 8000.5)
T.audio("a", [[0.0, 1.0]], 8001.5)
T.audio("a", [[0.0, 1.0]], [8000.0])
T.audio("a", [[0.0, 1.0]], 0)
T.audio("a", [[0.0, 1.0]], -5)
T.audio("a", [0.0, 1.0], 8000)
T.audio("a", c(np.zeros((1, 0), np.float32)), 8000.0)
T.audio("a", c(np.zeros((1, 2, 0), np.float32)), 8000.0)
T.audio("a", c(np.zeros((0, 2), np.float32)), 8000.0)
T.audio("a", [[0.0, 1.0]], 8000.0, max_outputs=0)
T.audio("a", c([[1, 2]]), 8000.0)
raw.AudioSummaryV2(tag=["a"], tensor=[[0.0, 1.0]], sample_rate=8000.0)
tf.train.get_global_step()
tf.train.get_or_create_global_step()
tf.train.create_global_step()
in_scope("outer", tf.train.create_global_step)
in_variable_scope("outer", tf.train.create_global_step)
[tf.train.create_global_step(), tf.train.create_global_step()]
tf.train.create_global_step() is tf.train.get_or_create_global_step()
tf.train.assert_global_step(tf.Variable(1.0))
tf.train.assert_global_step(c(1))
tf.train.assert_global_step(tf.Variable([1]))
tf.train.assert_global_step(None)
[tf.Variable(0, name="global_step"), tf.train.get_global_step()][1]
[tf.Variable(0.0, name="global_step"), tf.train.get_global_step()]
[tf.Variable([0], name="global_step"), tf.train.get_or_create_global_step()]
[c(0, name="global_step"), tf.train.get_or_create_global_step()][1]
[tf.add_to_collection("global_step", tf.Variable(0, name="q")), tf.train.get_or_create_global_step()][1]
[tf.add_to_collection("global_step", tf.Variable(i)) for i in range(2)] and tf.train.get_global_step()
"""  # noqa: E501


def lines():
    """Return the calls."""
    return [line for line in LINES.splitlines() if line]


def environment(tf):
    """Return the names that the calls use."""

    def noise(count, dtype=np.float32):
        return np.random.RandomState(count).randn(count).astype(dtype)

    def in_scope(name, make):
        with tf.name_scope(name):
            return make()

    def in_variable_scope(name, make):
        with tf.variable_scope(name):
            return make()

    def plugin(name, content):
        data = tf.SummaryMetadata.PluginData(plugin_name=name, content=content)
        return tf.SummaryMetadata(plugin_data=data)

    def color(*values):
        array = np.array(values, np.uint8)
        return tf.make_tensor_proto(array)

    return {
        "T": tf.summary, "raw": tf.raw_ops, "c": tf.constant, "tf": tf, "np": np, "noise": noise,
        "in_scope": in_scope, "in_variable_scope": in_variable_scope, "plugin": plugin,
        "color": color,
    }  # fmt: skip


def told(tf, source):
    """Return what a call gives: nodes, collections, and the bytes of summaries; or its error."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        try:
            made = eval(source, environment(tf))
        except Exception as error:
            return {"error": [type(error).__name__, str(error)]}
        found = {
            "nodes": [[n.name, n.op, list(n.input)] for n in graph.as_graph_def().node],
            "collections": {
                key: [getattr(each, "name", str(each)) for each in graph.get_collection(key)]
                for key in sorted(graph.get_all_collection_keys())
            },
        }
        if not hasattr(made, "graph") and not isinstance(made, list):
            return dict(found, made=str(made))
        with tf.Session(graph=graph) as session:
            try:
                session.run(tf.global_variables_initializer())
                values = session.run(made)
            except tf.errors.OpError as error:
                return dict(found, failed=[type(error).__name__, error.message.split("\n")[0]])
            values = values if isinstance(values, list) else [values]
            return dict(found, values=[plain(tf, session, each) for each in values])


def plain(tf, session, value):
    """Return bytes of a summary as hex, images by their pixels; other values as text."""
    if not isinstance(value, bytes):
        return str(value)
    summary = tf.Summary.FromString(value)
    if not any(each.HasField("image") for each in summary.value):
        return value.hex()
    return [
        [each.tag, each.image.height, each.image.width, each.image.colorspace, pixels(tf, each)]
        for each in summary.value
    ]


def pixels(tf, value):
    """Return the bytes of an image's pixels."""
    return decoded(tf, value.image.encoded_image_string)


def decoded(tf, data):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.image.decode_png(data)).reshape(-1).tolist()


def main():
    """Write what this Python's TensorFlow makes of everything."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.FATAL)
    json.dump({line: told(tf, line) for line in lines()}, sys.stdout)


def store(command):
    """Write the file of expectations, a line for each call."""
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    said = json.loads(subprocess.run(script, stdout=subprocess.PIPE, check=True).stdout)
    rows = ["%s: %s" % (json.dumps(key), json.dumps(row)) for key, row in said.items()]  # noqa: UP031
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    store(sys.argv[1]) if len(sys.argv) > 1 else main()

"""Graphs of pipelines as TensorFlow 2.21 builds them, and what it gives for them, as JSON.

This file runs on real TensorFlow's own Python, by its path, and imports nothing of ours but
`differential.py` beside it. To store what it says:

    python -m tests.datasets.later "COMMAND THAT RUNS REAL TENSORFLOW 2.21's PYTHON"
"""

# ruff: noqa: E501 (one pipeline a line)

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_2_21.json")

PIPELINES = """
D.from_tensors({"b": [1.0, 2.0], "a": ("x", [True])}).with_options(tf.data.Options())
D.range(5, output_type=tf.int32).map(lambda x: x * 2)
D.range(5).map(lambda x: x * 2, num_parallel_calls=4)
D.range(5).map(lambda x: x * 2, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).prefetch(tf.data.AUTOTUNE)
D.range(6).filter(lambda x: x > 2).map(lambda x: x * 2, num_parallel_calls=2).repeat(2).batch(2)
D.range(5).interleave(lambda x: D.range(x), cycle_length=2, block_length=2, num_parallel_calls=2)
D.range(4).interleave(lambda x: D.range(x), cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
D.range(5).apply(E.parallel_interleave(lambda x: D.range(x), cycle_length=2, block_length=1))
D.range(6).batch(2, num_parallel_calls=2, drop_remainder=True)
D.range(10).batch(4).rebatch(3)
D.range(10).batch(4).rebatch([1, 2], drop_remainder=True)
D.range(5).enumerate(5)
D.range(10).take_while(lambda x: x < 4)
D.from_tensor_slices([1, 2, 1, 3, 2]).unique()
D.range(5).apply(E.assert_cardinality(5))
D.range(5).apply(E.assert_cardinality(6))
D.range(5).apply(E.assert_cardinality(4))
D.range(5).scan(np.int64(0), lambda s, x: (s + x, s * 10 + x))
D.range(5).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)
D.range(10).apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s)))
D.range(10).bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [3, 6], [2, 2, 2], padded_shapes=[])
D.counter(3, 2).take(4)
D.range(4).map(lambda x: 6 // x).ignore_errors()
D.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1, 1, 0, 1], np.int64)))
D.choose_from_datasets([D.range(1), D.range(10, 13)], D.from_tensor_slices(np.array([0, 0, 1, 1], np.int64)))
D.sample_from_datasets([D.range(3), D.range(10, 13)], [0.5, 0.5], seed=3)
D.zip(D.range(3), D.range(3, 6))
D.range(7).window(3, shift=2).flat_map(lambda w: w.batch(3))
D.from_tensor_slices(([1, 2], [3, 4])).map(lambda a, b: {"x": a, "y": b}).padded_batch(2)
D.range(4).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).sparse_batch(2, [5])
D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]])).batch(2)
D.range(6).shuffle(6, seed=3).repeat(2)
D.range(6).shuffle(6, reshuffle_each_iteration=False).repeat(2).batch(4)
D.range(4).apply(E.shuffle_and_repeat(10, 2, seed=3))
D.range(5).cache().repeat(2)
T([folder + "/lines.txt", folder + "/more.txt"], num_parallel_reads=2)
R(folder + "/records.gz", "GZIP")
E.CsvDataset(folder + "/table.csv", [tf.float32, tf.int32, tf.string], header=True)
E.make_csv_dataset(folder + "/table.csv", 2, num_epochs=1, shuffle=False, label_name="n", select_columns=["f", "n"])
R(folder + "/examples").batch(2).apply(E.parse_example_dataset({"x": tf.io.FixedLenFeature([2], tf.float32), "s": tf.io.VarLenFeature(tf.int64)}))
E.SqlDataset("sqlite", folder + "/table.db", "SELECT a, b, c FROM rows ORDER BY a", (tf.int32, tf.string, tf.float64))
D.range(3).apply(E.copy_to_device("/cpu:0")).prefetch(1).repeat(2)
D.range(3).apply(E.prefetch_to_device("/cpu:0"))
tf.function(lambda: D.range(3).map(lambda x: x + 1).reduce(np.int64(0), lambda s, x: s + x))
tf.function(lambda: D.range(6).shuffle(6).cache().reduce(np.int64(0), lambda s, x: s + x))
"""


def lines():
    """Return the pipelines."""
    return [line for line in PIPELINES.splitlines() if line]


def told(tf, source, folder):
    """Return the graph of a pipeline, what to run in it, and what that gives."""
    from differential import elements

    data = tf.data
    names = {
        "tf": tf, "np": np, "D": data.Dataset, "E": data.experimental, "T": data.TextLineDataset,
        "R": data.TFRecordDataset, "folder": folder,
    }  # fmt: skip
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        made = eval(source, names)
        if callable(made):
            first, following = tf.no_op(), [made()]
        else:
            iterator = data.make_initializable_iterator(made)
            first = iterator.initializer
            following = tf.nest.flatten(iterator.get_next(), expand_composites=True)

        class Told:
            initializer = first

        found = elements(tf, Told, following, 1 if callable(made) else 40)
    content = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
    found["graph"] = base64.b64encode(content).decode()
    found["initializer"], found["fetches"] = first.name, [tensor.name for tensor in following]
    return found


def main():
    if sys.argv[1:] != ["tell"]:
        from tests.datasets.differential import store

        store(sys.argv[1], __file__, EXPECTED)
        return
    sys.path.insert(0, HERE)
    import differential
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    with tempfile.TemporaryDirectory() as parent:
        os.chdir(parent)
        os.mkdir("files")  # a path that the test has as well
        differential.write_files("files")
        json.dump({source: told(tf, source, "files") for source in lines()}, sys.stdout)


if __name__ == "__main__":
    main()

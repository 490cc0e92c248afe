"""An export as programs of the first Serving tutorials made it, and what reads it again.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours; `write FOLDER` prints the export's folder, `read FOLDER` the values.
"""

import json
import os
import sys


def write(tf, bundle, base):
    """Export a small classifier, and return the folder of its version."""
    exporter = bundle.exporter
    path = os.path.join(base, "words.txt")
    with open(path, "w") as file:
        file.write("ten")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        words = tf.Variable("none", trainable=False, name="words")
        y = tf.matmul(x, w, name="y")
        asset = tf.constant(path, name="path")
        read = tf.assign(words, tf.read_file(asset), name="go")
        session.run(tf.global_variables_initializer())
        made = exporter.Exporter(tf.train.Saver(sharded=True))
        made.init(
            graph.as_graph_def(),
            init_op=read.op,
            default_graph_signature=exporter.classification_signature(x, scores_tensor=y),
            named_graph_signatures={
                "inputs": exporter.generic_signature({"images": x}),
                "line": exporter.regression_signature(x, y),
            },
            assets_collection=[asset],
        )
        folder = made.export(base, tf.constant(7), session)
    os.remove(path)
    return os.fsdecode(folder)


def read(tf, bundle, folder):
    """Return the files of an export, its signatures, and what it computes."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(os.path.join(folder, "export.meta"))
        saver.restore(session, os.path.join(folder, "export"))
        assets = [
            bundle.manifest_pb2.AssetFile.FromString(each.value)
            for each in graph.get_collection("serving_assets")
        ]
        feeds = {
            each.tensor_binding.tensor_name: os.path.join(folder, "assets", each.filename)
            for each in assets
        }
        session.run(graph.get_collection("serving_init_op")[0], feeds)
        (packed,) = graph.get_collection("serving_signatures")
        signatures = bundle.manifest_pb2.Signatures.FromString(packed.value)
        scores = signatures.default_signature.classification_signature.scores.tensor_name
        return {
            "files": sorted(os.listdir(folder)),
            "named": sorted(signatures.named_signatures),
            "scores": session.run(scores, {"x:0": [[1.0, 1.0]]}).tolist(),
            "words": session.run("words:0").decode(),
        }


if __name__ == "__main__":
    import tensorflow
    from tensorflow.contrib.session_bundle import exporter, manifest_pb2

    class Bundle:
        """The package's modules as attributes."""

    Bundle.exporter, Bundle.manifest_pb2 = exporter, manifest_pb2
    if sys.argv[1] == "write":
        print(write(tensorflow, Bundle, sys.argv[2]))
    else:
        print(json.dumps(read(tensorflow, Bundle, sys.argv[2])))

"""A SavedModel, written and read: with TensorFlow 1.15.5, or with us.

    cd tests/training/saved_model
    PYTHON_OF_TENSORFLOW saved_model_programs.py write saved_model_1_15

writes what is stored, and `read FOLDER` tells what is read. (Read by Python 3.7, too, and imports
nothing of ours.)
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile


def write(tf, folder):
    """Write a model that has everything: variables, a vocabulary in a file, a table, two graphs."""
    words = os.path.join(folder, "words.txt")
    with open(words, "w") as file:
        file.write("emerson\nlake\npalmer\n")
    model = os.path.join(folder, "model")
    with tf.Graph().as_default():
        parts = build(tf, words)
        builder = tf.saved_model.builder.SavedModelBuilder(model)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            session.run(parts["insert"])
            builder.add_meta_graph_and_variables(
                session, ["serve"], signatures(tf, parts),
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                legacy_init_op=tf.tables_initializer(),
            )  # fmt: skip
            builder.add_meta_graph(["serve", "gpu"], clear_devices=True, strip_default_attrs=True)
    builder.save()
    os.remove(words)
    return model


def build(tf, words):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    kernel = tf.get_variable("kernel", initializer=[[2.0], [0.5]])
    bias = tf.get_variable("bias", initializer=[1.0], use_resource=True)
    word = tf.placeholder(tf.string, [None], name="word")
    ids = tf.contrib.lookup.index_table_from_file(words, num_oov_buckets=1).lookup(word)
    counts = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0, name="counts")
    return {
        "x": x, "y": tf.add(tf.matmul(x, kernel), bias, name="y"), "word": word,
        "ids": tf.identity(ids, name="ids"), "insert": counts.insert(["lake"], [7]),
        "count": tf.identity(counts.lookup(word), name="count"),
    }  # fmt: skip


def signatures(tf, parts):
    utils = tf.saved_model.signature_def_utils
    infos = {name: tf.saved_model.utils.build_tensor_info(parts[name])
             for name in ("word", "ids", "count")}  # fmt: skip
    outputs = {"ids": infos["ids"], "count": infos["count"]}
    return {
        "serving_default": utils.predict_signature_def({"x": parts["x"]}, {"y": parts["y"]}),
        "words": utils.build_signature_def({"word": infos["word"]}, outputs, "count"),
    }


def read(tf, model, tags, scope=None):
    """Return what the model gives, and what it says of itself."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        meta = tf.saved_model.loader.load(session, tags, model, import_scope=scope)
        prefix = scope + "/" if scope else ""
        fetches = [prefix + name for name in ("y:0", "ids:0", "count:0")]
        feeds = {prefix + "x:0": [[1.0, 2.0]], prefix + "word:0": ["lake", "palmer", "and"]}
        return {
            "values": [each.tolist() for each in session.run(fetches, feeds)],
            "collections": sorted(graph.get_all_collection_keys()),
            "variables": sorted(each.name for each in tf.global_variables()),
            "signatures": sorted(meta.signature_def),
            "tags": sorted(meta.meta_info_def.tags),
        }


if __name__ == "__main__":
    import tensorflow

    what, place = sys.argv[1:]
    if what == "write":
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(write(tensorflow, tempfile.mkdtemp()), place)
    else:
        print(json.dumps(read(tensorflow, place, ["serve"])))

"""Datasets of tf.contrib.slim: decoders of Examples, readers side by side, providers, analyses.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/slim; PYTHON_OF_1.15 slim_data_programs.py > expected_slim_data_1_15.json
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile

import numpy as np

PIXELS = [[[9, 8, 7], [30, 20, 10]], [[1, 2, 3], [4, 5, 6]], [[250, 0, 1], [0, 255, 2]]]


class Slim:
    """The modules, and values to feed them with."""

    def __init__(self, tf):
        from tensorflow.contrib.slim.python.slim import model_analyzer
        from tensorflow.contrib.slim.python.slim.data import (
            data_decoder,
            data_provider,
            dataset,
            dataset_data_provider,
            parallel_reader,
            tfexample_decoder,
        )

        self.tf, self.analyzer, self.decoder = tf, model_analyzer, tfexample_decoder
        self.base, self.provider, self.dataset = data_decoder, data_provider, dataset
        self.datasets, self.reader = dataset_data_provider, parallel_reader
        self.serialized = self.example()

    def example(self):
        """Return a serialized Example."""
        feature, given = self.tf.train.Feature, {}
        with self.tf.Graph().as_default(), self.tf.Session() as session:
            pixels = self.tf.constant(PIXELS, self.tf.uint8)
            image, grey = session.run(
                [self.tf.image.encode_png(pixels), self.tf.image.encode_png(pixels[:, :, :1])]
            )
        raw = np.array(PIXELS, np.uint8).tobytes()
        for key, value in {
            "image/encoded": [image], "image/format": [b"png"], "raw": [raw], "raw/form": [b"raw"],
            "many": [image, image], "grey": [grey], "empty": [b""],
            "label": [3], "shape": [2, 2], "height": [1], "width": [4], "indices": [0, 3],
            "float": [0.5, 1.5, 2.5, 3.5], "ids": [7, 8], "word": [b"b", b"zz"],
            "box/ymin": [0.1, 0.5], "box/xmin": [0.2, 0.6], "box/ymax": [0.3, 0.7],
            "box/xmax": [0.4, 0.8], "indices2": [0, 0, 1, 2], "sizes": [2, 4],
        }.items():  # fmt: skip
            if isinstance(value[0], bytes):
                given[key] = feature(bytes_list=self.tf.train.BytesList(value=value))
            elif isinstance(value[0], int):
                given[key] = feature(int64_list=self.tf.train.Int64List(value=value))
            else:
                given[key] = feature(float_list=self.tf.train.FloatList(value=value))
        made = self.tf.train.Example(features=self.tf.train.Features(feature=given))
        return made.SerializeToString(deterministic=True)

    def features(self):
        """Return how the Example is parsed."""
        tf = self.tf
        fixed, many = tf.FixedLenFeature, tf.VarLenFeature
        return {
            "image/encoded": fixed((), tf.string, ""), "image/format": fixed((), tf.string, "png"),
            "raw": fixed((), tf.string), "raw/form": fixed((), tf.string),
            "many": fixed([2], tf.string),
            "grey": fixed((), tf.string), "empty": fixed((), tf.string),
            "several": fixed([2], tf.string, ["", ""]), "label": fixed([], tf.int64),
            "one": fixed([1], tf.int64, [5]), "shape": fixed([2], tf.int64),
            "height": fixed([1], tf.int64), "width": fixed([], tf.int64),
            "indices": many(tf.int64), "float": many(tf.float32), "ids": many(tf.int64),
            "word": many(tf.string), "none": many(tf.float32), "box/ymin": many(tf.float32),
            "box/xmin": many(tf.float32), "box/ymax": many(tf.float32),
            "box/xmax": many(tf.float32), "values": many(tf.float32),
            "sizes": many(tf.int64),
        }  # fmt: skip


# Name -> expression of a handler: what it makes of the Example. `d` is the module of decoders.
HANDLERS = {
    "a tensor": "d.Tensor('label')",
    "a list": "d.Tensor('float')",
    "words": "d.Tensor('word')",
    "words of which there are none": "d.Tensor('none', default_value=2.0)",
    "a list with a shape": "d.Tensor('float', shape=[4, 1])",
    "a list with the shape of a feature": "d.Tensor('float', shape_keys='shape')",
    "a list with the shape of several": "d.Tensor('float', shape_keys=['height', 'width'])",
    "a list with the shape of a list": "d.Tensor('float', shape_keys='sizes')",
    "two shapes": "d.Tensor('float', shape_keys='shape', shape=[4])",
    "a sparse tensor": "d.SparseTensor('indices', 'ids', shape=[4])",
    "a dense one": "d.SparseTensor('indices', 'ids', shape=[4], densify=True, default_value=9)",
    "one with the shape of a feature": "d.SparseTensor('indices', 'ids', 'one')",
    "one with the shape of a number": "d.SparseTensor('indices', 'ids', 'width')",
    "one with the shape of a list": "d.SparseTensor('indices', 'ids', 'shape', densify=True)",
    "one with a list of columns": "d.SparseTensor('indices', 'ids', 'sizes')",
    "boxes": "d.BoundingBox(['ymin', 'xmin', 'ymax', 'xmax'], 'box/')",
    "boxes of three": "d.BoundingBox(['ymin', 'xmin', 'ymax'])",
    "an image": "d.Image()",
    "an image of a shape": "d.Image(shape=[3, 2, 3])",
    "an image of one channel": "d.Image('grey', 'image/format', channels=1)",
    "an image of any channels": "d.Image('image/encoded', 'image/format', channels=0)",
    "an image of 16 bits": "d.Image(dtype=tf.uint16)",
    "an image as it is": "d.Image('raw', 'raw/form', shape=[3, 2, 3])",
    "several images": "d.Image('many', 'image/format', repeated=True)",
    "several images of a shape": "d.Image('many', 'image/format', [3, 2, 3], repeated=True)",
    "several images of any channels": "d.Image('many', 'image/format', channels=None, "
    "repeated=True)",
    "an image by a fast transform": "d.Image(dct_method='INTEGER_FAST')",
    "a function's result": "d.ItemHandlerCallback(['ids', 'label'], "
    "lambda found: [tf.sparse_tensor_to_dense(found['ids']), found['label'] + 1])",
    "a function of one": "d.ItemHandlerCallback('label', lambda found: found['label'] * 2)",
    "the second where the first is empty": "d.BackupHandler(d.Tensor('none'), d.Tensor('float'))",
    "the first where it is not": "d.BackupHandler(d.Tensor('float'), d.Tensor('none'))",
    "no handlers": "d.BackupHandler(d.Tensor('float'), 3)",
    "what a table has": "d.LookupTensor('word', table, default_value='')",
    "an abstract one": "d.ItemHandler('x')",
    "keys that are no list": "d.Tensor(3)",
}  # fmt: skip
TABLES = {"what a table has"}


def texts(found):
    """Return a value in JSON's terms."""
    if isinstance(found, dict):
        return {key: texts(found[key]) for key in found}
    if isinstance(found, (list, tuple)):
        return [texts(each) for each in found]
    found = np.asarray(found)
    if found.dtype.kind in "SO":
        return [each.decode("latin1") for each in found.ravel().tolist()]
    return [str(found.dtype), found.tolist()]


def nodes(graph):
    """Return a line on each node, without those that decide how images are read."""
    found = []
    for op in graph.get_operations():
        if "case/" in op.name:
            continue
        controls = ["^" + each.name for each in op.control_inputs]
        found.append(f"{op.name} {op.type} {[each.name for each in op.inputs] + controls}")
    return sorted(found)  # an Enter or a Switch may be made before what wants it


def shapes(found):
    """Return the static shapes of tensors."""
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    return [str(getattr(each, "shape", each)) for each in found]


def outcome(function, *arguments):
    """Return what a program gives, or its error."""
    try:
        return function(*arguments)
    except Exception as error:
        return {
            "error": [type(error).__name__, re.sub(r"/[^ ',]*/", "", str(error)).split("\n")[0]]
        }


def decoded(slim, name):
    """Return what a handler makes of the Example: nodes, shapes, values."""
    tf = slim.tf
    serialized = slim.serialized
    with tf.Graph().as_default() as graph, tf.Session() as session:
        table = None
        if name in TABLES:
            table = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"])
        handler = eval(HANDLERS[name], {"d": slim.decoder, "tf": tf, "table": table})
        features = {
            key: value
            for key, value in sorted(slim.features().items(), reverse=True)
            if key in handler.keys
        }
        before = set(nodes(graph))
        decoder = slim.decoder.TFExampleDecoder(features, {"item": handler})
        source = tf.placeholder_with_default(tf.constant(serialized), [])
        found = decoder.decode(source)
        session.run(tf.tables_initializer())
        given = list(found[0]) if isinstance(found[0], list) else found
        return {
            "items": list(decoder.list_items()), "keys": list(handler.keys),
            "shapes": shapes(given), "values": texts(session.run(given)),
            "nodes": [each for each in nodes(graph) if each not in before],
        }  # fmt: skip


def written(tf, folder, count=2, each=3):
    """Write files of records, and return their paths."""
    paths = [os.path.join(folder, f"part-{number}") for number in range(count)]
    for number, path in enumerate(paths):
        with tf.python_io.TFRecordWriter(path) as writer:
            for place in range(each):
                feature = tf.train.Feature(
                    int64_list=tf.train.Int64List(value=[10 * number + place])
                )
                made = tf.train.Example(features=tf.train.Features(feature={"label": feature}))
                writer.write(made.SerializeToString())
    return paths


def until_end(tf, session, fetches):
    """Return all values of fetches, until the queue ends."""
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator, found = tf.train.Coordinator(), []
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        while True:
            found.append(session.run(fetches))
    except tf.errors.OutOfRangeError:
        pass
    finally:
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def labels(slim, paths, decoder=None):
    """Return a dataset of the files."""
    tf, d = slim.tf, slim.decoder
    own = d.TFExampleDecoder(
        {"label": tf.FixedLenFeature([], tf.int64)},
        {"label": d.Tensor("label"), "twice": d.ItemHandlerCallback(
            "label", lambda found: found["label"] * 2)},
    )  # fmt: skip
    return slim.dataset.Dataset(
        paths, tf.TFRecordReader, decoder or own, 6, {"label": "A number."}, extra=5
    )


# Name -> arguments of a provider.
PROVIDERS = {
    "in order": {"shuffle": False, "num_epochs": 1},
    "shuffled": {"num_epochs": 1, "seed": 3, "num_readers": 2, "scope": "mine"},
    "again and again": {"shuffle": False, "common_queue_capacity": 7, "common_queue_min": 2},
    "with another name for keys": {"shuffle": False, "num_epochs": 2, "record_key": "key"},
    "with the key of an item": {"record_key": "label"},
}


def provided(slim, name):
    """Return what a provider gives."""
    tf = slim.tf
    with tempfile.TemporaryDirectory() as folder:
        paths = written(tf, folder)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            data = labels(slim, paths)
            provider = slim.datasets.DatasetDataProvider(data, **PROVIDERS[name])
            items = list(provider.list_items())
            found = provider.get(items)
            told = {
                "items": items, "samples": [provider.num_samples(), data.num_samples, data.extra],
                "shapes": shapes(found), "nodes": nodes(graph),
                "runners": [
                    [each.name, [op.name for op in each.enqueue_ops]]
                    for each in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
                ],
                "summaries": [each.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)],
            }  # fmt: skip
            if "num_epochs" in PROVIDERS[name]:
                rows = until_end(tf, session, provider.get(["label", "twice", items[-1]]))
                told["rows"] = sorted(
                    [int(row[0]), int(row[1]), os.path.basename(row[2].decode())] for row in rows
                )
            return told


# Name -> function of (slim, paths, folder) to tensors, or what else it gives.
READERS = {
    "one pass": lambda slim, paths, folder: slim.reader.single_pass_read(
        paths, slim.tf.TFRecordReader
    ),
    "one pass of a pattern": lambda slim, paths, folder: slim.reader.single_pass_read(
        folder + "/part-*", slim.tf.TFRecordReader, scope="mine"
    ),
    "three readers": lambda slim, paths, folder: slim.reader.parallel_read(
        paths, slim.tf.TFRecordReader, 1, 3, shuffle=False, capacity=9
    ),
    "three readers, shuffled": lambda slim, paths, folder: slim.reader.parallel_read(
        paths, slim.tf.TFRecordReader, 1, 3, seed=2, min_after_dequeue=1, scope="mine"
    ),
    "readers with arguments": lambda slim, paths, folder: slim.reader.parallel_read(
        paths, slim.tf.FixedLengthRecordReader, 1, 1, {"record_bytes": 4}, False
    ),
    "several at once": lambda slim, paths, folder: slim.reader.ParallelReader(
        slim.tf.TFRecordReader, slim.tf.FIFOQueue(20, [slim.tf.string, slim.tf.string]), 2
    ).read_up_to(slim.tf.train.string_input_producer(paths, 1, shuffle=False), 4, name="up"),
    "a queue of one kind": lambda slim, paths, folder: slim.reader.ParallelReader(
        slim.tf.TFRecordReader, slim.tf.FIFOQueue(20, [slim.tf.string])
    ),
    "a queue of wrong kinds": lambda slim, paths, folder: slim.reader.ParallelReader(
        slim.tf.TFRecordReader, slim.tf.FIFOQueue(20, [slim.tf.string, slim.tf.int64])
    ),
    "files of a pattern": lambda slim, paths, folder: slim.reader.get_data_files(
        folder + "/part-*"
    ),
    "files of two patterns": lambda slim, paths, folder: slim.reader.get_data_files(
        [folder + "/part-1", folder + "/part-?"]
    ),
    "files that are not there": lambda slim, paths, folder: slim.reader.get_data_files(
        folder + "/other*"
    ),
    "a file that is not there": lambda slim, paths, folder: slim.reader.get_data_files(
        [folder + "/other"]
    ),
}


def read(slim, name):
    """Return what readers give."""
    tf = slim.tf
    with tempfile.TemporaryDirectory() as folder:
        paths = written(tf, folder)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            found = READERS[name](slim, paths, folder)
            if not isinstance(found[0], tf.Tensor):
                return {"found": [os.path.basename(each) for each in found]}
            told = {"shapes": shapes(found), "nodes": nodes(graph)}
            rows = until_end(tf, session, found[1])
            told["rows"] = sorted(
                sum(len(each) for each in np.asarray(row).ravel().tolist()) for row in rows
            )
            return told


def counted(slim):
    """Return what readers that share a queue have produced, and what the numbers are named."""
    tf = slim.tf
    with tempfile.TemporaryDirectory() as folder:
        paths = written(tf, folder)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            queue = tf.train.string_input_producer(paths, 1, shuffle=False)
            common = tf.FIFOQueue(20, [tf.string, tf.string])
            made = slim.reader.ParallelReader(tf.TFRecordReader, common, 2)
            value = made.read(queue)
            before = set(nodes(graph))
            numbers = made.num_records_produced(), made.num_work_units_completed("units")
            until_end(tf, session, value)
            return [
                made.num_readers, made.common_queue is common,
                [each for each in nodes(graph) if each not in before],
                [int(each) for each in session.run(numbers)],
            ]  # fmt: skip


def analyzed(slim, name):
    """Return what the analyzer prints and returns."""
    tf = slim.tf
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], "x")
        w = tf.get_variable("w", [3, 4])
        tf.get_variable("b", [], tf.float64)
        tf.matmul(x, w, name="product")
        tf.placeholder(tf.float32, [None, 5], "open")
        tf.placeholder(tf.int32, None, "unknown")
        tf.no_op("nothing")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = {
                "variables": lambda: slim.analyzer.analyze_vars(tf.global_variables()),
                "variables, printed": lambda: slim.analyzer.analyze_vars(
                    tf.global_variables(), print_info=True
                ),
                "operations": lambda: slim.analyzer.analyze_ops(graph),
                "operations, printed": lambda: slim.analyzer.analyze_ops(graph, True),
                "a tensor": lambda: [
                    slim.analyzer.tensor_description(x), slim.analyzer.tensor_description(w),
                    slim.analyzer.tensor_description(tf.constant(1)),
                ],
                "an open tensor": lambda: slim.analyzer.tensor_description(
                    graph.get_tensor_by_name("open:0")
                ),
                "an unknown tensor": lambda: slim.analyzer.tensor_description(
                    graph.get_tensor_by_name("unknown:0")
                ),
            }[name]()  # fmt: skip
        found = [str(each) for each in found] if isinstance(found, (tuple, list)) else str(found)
        return [found, printed.getvalue()]


ANALYSES = [
    "variables", "variables, printed", "operations", "operations, printed", "a tensor",
    "an open tensor", "an unknown tensor",
]  # fmt: skip


class Items:
    """Requests that providers answer or not."""

    REQUESTS = (["a"], ("b", "a"), "ab", ["c"], [], {"a": 1})

    @staticmethod
    def told(slim):
        """Return what a provider of two items says to requests."""
        provider = slim.provider.DataProvider({"a": 1, "b": 2}, 7)
        known = [sorted(provider.list_items()), provider.num_samples()]
        return known + [outcome(provider.get, request) for request in Items.REQUESTS]


def programs(tf):
    """Return the programs by name."""
    slim = Slim(tf)
    made = {}
    for name in HANDLERS:
        made["decoder: " + name] = (decoded, slim, name)
    for name in PROVIDERS:
        made["provider: " + name] = (provided, slim, name)
    for name in READERS:
        made["reader: " + name] = (read, slim, name)
    for name in ANALYSES:
        made["analysis: " + name] = (analyzed, slim, name)
    made["reader: numbers"] = (counted, slim)
    made["provider: requests"] = (Items.told, slim)
    return made


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity("FATAL")
    rows = {name: outcome(*program) for name, program in programs(tensorflow).items()}
    json.dump(rows, sys.stdout, indent=0)

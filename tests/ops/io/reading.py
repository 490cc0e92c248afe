"""Files, records and their parsing on real TensorFlow: what it makes of them, as JSON.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours; `test_reading.py` compares what it tells with what tfdist makes of the same programs.

To store what it says, and the files that it writes:

    python -m tests.ops.io.reading "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_reading_1_15.json")
WRITTEN = os.path.join(HERE, "..", "..", "formats", "written_by_1_15")
COMPRESSIONS = ("", "ZLIB", "GZIP")
RECORDS = [b"abc", b"", b"x" * 300, bytes(range(256)), b"last"]

FILES = {
    "a.txt": b"h1\nl1\r\nl2\n\nl4",
    "b.txt": b"hb\nb1\n",
    "cr.txt": b"a\rb\n\r\nc\r\r\nd\r",
    "empty": b"",
    "fixed": b"HabcdefgFF",
    "short": b"H",
    "longer": b"HabcFFx",
    "fixed.zlib": zlib.compress(b"HabcdefgFF"),
    "fixed.gzip": gzip.compress(b"HabcdefgFF"),
}

# What makes a reader -> what its queue holds. `R` is `tf.python_io.TFRecordOptions`.
READERS = {
    "tf.TextLineReader()": ["a.txt", "empty", "b.txt"],
    "tf.TextLineReader(skip_header_lines=1)": ["empty", "a.txt", "b.txt"],
    "tf.TextLineReader(3)": ["a.txt", "b.txt"],
    "tf.TextLineReader(name='cr')": ["cr.txt"],
    "tf.TextLineReader(name='missing')": ["none", "b.txt"],
    "tf.TextLineReader(-1)": ["b.txt"],
    "tf.WholeFileReader()": ["a.txt", "empty", "b.txt"],
    "tf.IdentityReader()": ["x", "y"],
    "tf.FixedLengthRecordReader(3)": ["fixed", "a.txt"],
    "tf.FixedLengthRecordReader(3, 1, 2)": ["fixed", "short", "longer", "a.txt"],
    "tf.FixedLengthRecordReader(3, 1, 2, 2)": ["fixed"],
    "tf.FixedLengthRecordReader(3, 1, 0, 5)": ["fixed"],
    "tf.FixedLengthRecordReader(3, 1, 2, encoding='ZLIB')": ["fixed.zlib"],
    "tf.FixedLengthRecordReader(3, 1, 2, 2, encoding='ZLIB')": ["fixed.zlib"],
    "tf.FixedLengthRecordReader(3, 1, 2, encoding='GZIP')": ["fixed.gzip"],
    "tf.FixedLengthRecordReader(3, -1)": ["fixed"],
    "tf.FixedLengthRecordReader(3, 1, 1, -1)": ["fixed"],
    "tf.TFRecordReader()": ["records", "empty", "none", "records"],
    "tf.TFRecordReader(options=R('ZLIB'))": ["records.zlib"],
    "tf.TFRecordReader(options=R('GZIP'))": ["records.gzip"],
    "tf.TFRecordReader(name='damaged')": ["records.zlib", "records"],
    "tf.TFRecordReader(name='third', options=R(2))": ["records"],
}

# Damaged copies of a file with RECORDS: up to where it goes, or which byte is changed.
DAMAGED = {"cut 24": 24, "cut 29": 29, "cut 31": 31, "cut 147": 147, "cut 349": 349,
           "bad 0": -1, "bad 13": -14, "bad 16": -17, "bad 35": -36, "bad 47": -48}  # fmt: skip

# In order: records, defaults, keywords of decode_csv.
CSV = r'''
["1", "007", " 1", "1 ", "\t1", "-1", '"1"', '""', "-2147483648"], [[5]]
["+1"], [[0]]
["0x10"], [[0]]
["1.5"], [[0]]
["1_0"], [[0]]
["2147483648"], [[0]]
["9223372036854775807", "-5"], [np.array([0])]
["9223372036854775808"], [np.array([0])]
["1", " 1.5 ", "nan", "inf", "-INF", "+inf", "1e39", "1e-50", ".5", "5.", "+.5e+3"], [[0.0]]
["1", " 1.5 ", "nan", "1e39", "1e400", "-0"], [np.array([0.0])]
["0x1p3"], [[0.0]]
["1_0"], [[0.0]]
["infinity"], [[0.0]]
["1d5"], [[0.0]]
[""], [[0]]
[","], [[0]]
["1,2"], [[0]]
["abc", " ", '" a "', '"a""b"', '"a,b"', '"a\nb"', '""""', '"a\r\nb"'], [["d"]]
[b"\xff\x00a"], [["d"]]
['a"b'], [["d"]]
['"a"b'], [["d"]]
['"a" ,'], [["d"]]
['"'], [["d"]]
['"""'], [["d"]]
['"a,b'], [["d"]]
["a\n"], [["d"]]
["a\rb"], [["d"]]
[' "a"'], [["d"]]
["a,b", "a,", ",a", ",", '"x\ny",z', '"",""', "\na,\r\nb"], [["d1"], ["d2"]]
["a,b\n"], [["d1"], ["d2"]]
['a,"b"\n'], [["d1"], ["d2"]]
["a,\n"], [["d1"], ["d2"]]
["\n"], [["d1"], ["d2"]]
["1;2"], [[0], [0]], dict(field_delim=";")
["1\t2"], [[0], [0]], dict(field_delim="\t")
["1 2"], [[0], [0]], dict(field_delim=" ")
["a]b"], [["d"], ["d"]], dict(field_delim="]")
['1"2'], [[0], [0]], dict(field_delim='"')
["1;;2"], [[0], [0]], dict(field_delim=";;")
['"1",2', 'a"1",2'], [["a"], [0]], dict(use_quote_delim=False)
["\na,\r\nb"], [["a"], ["b"]], dict(use_quote_delim=False)
["a\nb,c"], [["a"], ["b"]], dict(use_quote_delim=False)
["NA,NA", "1,", ",x", "NA , NA", '"NA",NA'], [["1"], ["a"]], dict(na_value="NA")
["NA,NA", "1,", ",x"], [[1], ["a"]], dict(na_value="NA")
["1,2,3", "4,5,6"], [[0], [0]], dict(select_cols=[0, 2])
["1,2,3", "4,5"], [[0], [0]], dict(select_cols=[0, 1])
["x,2,3", '4,5,"'], [[0]], dict(select_cols=[1])
["1,2,3"], [[0], [0]], dict(select_cols=[2, 0])
["1,2,3"], [[0], [0]], dict(select_cols=[0])
["1,2,3"], [[0], [0]], dict(select_cols=[0, 5])
["1,2,3"], [[0], [0]], dict(select_cols=[-1, 0])
["1,", "1,2"], [[0], tf.constant([], tf.int32)]
[',5'], [tf.constant([], tf.string), [1]]
["1,"], [[0], 5]
["1,"], [[0], [5, 6]]
["1,"], [[0], [[5]]]
["1,"], [[0], [True]]
"1,2", [[0], [1]]
[["1,2", "3,4"], ["5,6", "7,8"]], [[0], [1]]
np.array([], object), [[0]]
["1,2", "3", "4,5"], [[0], [1]]
["1,2", "3,4,5"], [[0], [1]]
["1,2", "3,x"], [[0], [1]]
["1,2"], []
tf.placeholder_with_default(["1,2"], None), [[0], [1]]
tf.placeholder_with_default(["1,2"], [None]), [[0], [1]]
'''

# `E(...)` is a serialized Example, `Q(context, lists)` a SequenceExample.
PARSES = r"""
tf.parse_example([A, B], {"a": F([2], tf.float32), "b": F([], tf.int64, -1), "c": V(tf.string)})
tf.parse_single_example(A, {"a": F([2], tf.float32), "b": F([], tf.int64, -1), "c": V(tf.string)})
tf.parse_single_example(B, {"b": F([], tf.int64, -1), "d": F([2], tf.int64, [7, 8])})
tf.parse_single_example(B, {"q": V(tf.int64), "e": F([], tf.string, "none")})
tf.parse_example([A, B], {"b": F([], tf.int64)})
tf.parse_example([A, B], {"b": F([], tf.int64)}, example_names=["n0", "n1"])
tf.parse_single_example(B, {"b": F([], tf.int64)})
tf.parse_single_example(B, {"b": F([], tf.int64)}, example_names="nn")
tf.parse_single_example(A, {"a": F([2], tf.float32), "b": F([], tf.int64)}, example_names="nn")
tf.parse_example([A, B], {"a": F([2], tf.int64)})
tf.parse_single_example(A, {"a": F([2], tf.int64)})
tf.parse_example([A, B], {"a": V(tf.int64)})
tf.parse_single_example(A, {"a": V(tf.int64)})
tf.parse_example([A, B], {"a": F([3], tf.float32)})
tf.parse_single_example(A, {"a": F([3], tf.float32)})
tf.parse_example([A, B], {"a": F([2, 1], tf.float32)})
tf.parse_example([A, B, N], {"c": S([], tf.string, True), "a": S([2], tf.float32, True, -1.0)})
tf.parse_example([A, B, N], {"c": S([], tf.string, True, "D"), "a": S([1], tf.float32, True)})
tf.parse_example([A, B, N], {"c": S([], tf.string)})
tf.parse_example([E(a=[1.0, 2.0, 3.0])], {"a": S([2], tf.float32, True)})
tf.parse_single_example(A, {"c": S([], tf.string, True)})
tf.parse_single_example(N, {"c": S([], tf.string, True)})
tf.parse_example([I, J, N], {"s": P("ix", "v", tf.float32, 5)})
tf.parse_example([I, J], {"s": P("ix", "v", tf.float32, 5, True)})
tf.parse_single_example(I, {"s": P("ix", "v", tf.float32, 5)})
tf.parse_example([K], {"s": P(["i", "j"], "v", tf.float32, [4, 5])})
tf.parse_example([E(a=None)], {"a": F([2], tf.float32, [1.0, 2.0]), "b": V(tf.int64)})
tf.parse_example([E(a=[])], {"a": F([2], tf.float32, [1.0, 2.0])})
tf.parse_example([E(a=[])], {"a": V(tf.int64)})
tf.parse_example(tf.constant([], tf.string), {"a": F([2], tf.float32), "c": V(tf.int64)})
tf.parse_example([E(n=[-1, 2 ** 40, 3]), E(n=[1, 127, 128])], {"n": F([3], tf.int64)})
tf.parse_example([E(n=[-1, 300]), E(n=[]), E(n=[5])], {"n": V(tf.int64)})
tf.parse_example([E(c=[b"x" * 200]), E(c=[b""])], {"c": F([], tf.string)})
tf.parse_example([A + E(a=[7.0, 8.0])], {"a": F([2], tf.float32)})
tf.parse_example([A], {})
tf.parse_example([A], None)
tf.parse_example([A], {"a": 3})
tf.parse_example([A], {"a": V(None)})
tf.parse_example([A], {"a": F([2], None)})
tf.parse_example([A], {"a": F(None, tf.float32)})
tf.parse_example([A], {"a": F([None, 2], tf.float32)})
tf.parse_example([A], {"a": F([2, None], tf.float32)})
tf.parse_example([A], {"a": F([2], tf.int32)})
tf.parse_example([A], {"a": F([2], tf.float32, [1.0, 2.0, 3.0])})
tf.parse_example([A], {"a": F([2], tf.float32, ["x", "y"])})
tf.parse_single_example([A], {"a": F([2], tf.float32)})
tf.parse_example(A, {"a": F([2], tf.float32)})
tf.parse_example([A], {"a": F([2], tf.float32), "x/y z": F([2], tf.float32, [0, 0])}, name="foo")
tf.parse_single_sequence_example(X, C, L)
tf.parse_single_sequence_example(Y, C, L)
tf.parse_single_sequence_example(Z, C, L, example_name="nm")
tf.parse_single_sequence_example(X, C)
tf.parse_single_sequence_example(X, None, L)
tf.parse_single_sequence_example(X)
tf.parse_single_sequence_example(Q(N, {}), C, L)
tf.parse_single_sequence_example(X, C, {"s": S([2], tf.int64)})
tf.parse_single_sequence_example(X, {"b": F([3], tf.float32)}, L)
tf.parse_single_sequence_example(X, {"zz": F([2], tf.float32, [5.0, 6.0])}, L)
tf.io.parse_sequence_example([X, Y], C, L)
tf.io.parse_sequence_example([X, Y], C, {"s": F([], tf.int64)})
tf.io.parse_sequence_example([X, Y], {"b": S([], tf.int64)}, L)
tf.serialize_tensor(1.5)
tf.serialize_tensor([[1, 2, 3], [4, 5, 6]])
tf.serialize_tensor(["a", "bcd"])
tf.serialize_tensor([True, False])
tf.serialize_tensor(np.arange(3, dtype=np.float16))
tf.serialize_tensor(np.zeros([0, 3]))
tf.serialize_tensor("x")
tf.parse_tensor(tf.serialize_tensor([[1.5, 2.0]]), tf.float32)
tf.parse_tensor(tf.serialize_tensor("x"), tf.string)
tf.parse_tensor(tf.serialize_tensor(["a", "b"]), tf.string)
tf.parse_tensor(tf.serialize_tensor(1), tf.float32)
tf.decode_json_example(["{}", '{"features": {}}'])
tf.decode_json_example("nope")
tf.io.decode_compressed([zlib.compress(b"abc"), zlib.compress(b"")], "ZLIB")
tf.io.decode_compressed(gzip.compress(b"abc"), "GZIP")
tf.io.decode_compressed(["abc"])
"""

# `D` is the folder, where FILES are, and `deep/a`, `deep/ab`, `deep/a.c`, `deep/.h`, `deep/[x]`.
FILE_CALLS = r"""
tf.read_file(D + "a.txt")
tf.read_file("file://" + D + "a.txt")
tf.read_file(D + "none")
tf.read_file(D + "deep")
tf.read_file("foo://a/b")
tf.read_file(["a"])
tf.write_file(D + "deep", "x")
tf.write_file(["a"], "x")
tf.matching_files(D + "deep/*")
tf.matching_files(D + "deep/a*")
tf.matching_files(D + "deep/?")
tf.matching_files(D + "deep/[!a]*")
tf.matching_files(D + "deep/[^a]*")
tf.matching_files(D + "deep/[ab]")
tf.matching_files(D + "deep/.*")
tf.matching_files(D + "deep/\\[x\\]")
tf.matching_files(D + "*/a")
tf.matching_files(D + "*")
tf.matching_files(D + "**")
tf.matching_files(D + "deep/none")
tf.matching_files(D + "deep/")
tf.matching_files("")
tf.matching_files(D + "none/*")
tf.matching_files([D + "deep/ab", D + "deep/a*"])
tf.matching_files(tf.constant([], tf.string))
"""


def table(text):
    """Return the lines of a table that are not empty."""
    return [line for line in text.splitlines() if line]


def make_files(folder, written=WRITTEN):
    """Write FILES, and copies of what 1.15.5 wrote, into a folder, whose name ends with a slash."""
    for name, data in FILES.items():
        write(folder + name, data)
    os.makedirs(folder + "deep")
    os.makedirs(folder + "ours", exist_ok=True)
    for name in ("a", "ab", "a.c", ".h", "[x]"):
        write(folder + "deep/" + name, b"")
    for compression in COMPRESSIONS:
        name = record_file(compression)
        if os.path.exists(os.path.join(written, name)):
            write(folder + name, read(os.path.join(written, name)))
    if os.path.exists(folder + "records"):
        for name, place in DAMAGED.items():
            write(folder + name, damaged(read(folder + "records"), place))


def record_file(compression):
    """Return the name of the file with RECORDS in it."""
    return "records" + (compression and "." + compression.lower())


def damaged(data, place):
    """Return `data` up to `place`, or with the byte changed that a negative one tells."""
    if place >= 0:
        return data[:place]
    changed = bytearray(data)
    changed[-place - 1] ^= 1
    return bytes(changed)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def tried(function, folder):
    """Return what `function` gives, or the error's class and the first line of its message."""
    try:
        return function()
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        return {
            "error": type(error).__name__,
            "message": message.split("\n")[0].replace(folder, "D/"),
        }


def reads(tf, source, folder):
    """Return what nine reads give, one by one and by two, and what the reader counts."""
    names = [folder + name for name in READERS[source]]
    return {"one by one": _reads(tf, source, names, folder, 0),
            "by two": _reads(tf, source, names, folder, 2)}  # fmt: skip


def _reads(tf, source, names, folder, count):
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(10, "string", shapes=[()])
        fill, close = queue.enqueue_many([names]), queue.close()
        reader = eval(source, {"tf": tf, "R": tf.python_io.TFRecordOptions})
        record = reader.read_up_to(queue, count) if count else reader.read(queue)
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        nodes = [op.name + " " + op.type for op in graph.get_operations() if "Reader" in op.type]
        with tf.Session() as session:
            session.run(fill)
            session.run(close)
            found = []
            for _ in range(9):
                got = tried(lambda: [plain(each, folder) for each in session.run(record)], folder)
                if isinstance(got, dict) and got["error"] == "InvalidArgumentError":
                    return {"nodes": nodes, "reads": [got]}  # there is no reader
                found.append([got, [int(each) for each in session.run(counts)]])
                if isinstance(got, dict) and got["error"] == "OutOfRangeError":
                    break
    return {"nodes": nodes, "reads": found}


def iterated(tf, path, compression):
    """Return the records that Python reads of a file, and the error that ends them."""
    found = []

    def step():
        options = tf.python_io.TFRecordOptions(compression)
        for record in tf.python_io.tf_record_iterator(path, options):
            found.append(plain(record, ""))

    error = tried(step, os.path.dirname(path) + "/")
    return found if error is None else [*found, error]


def plain(value, folder):
    """Return a value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.decode("latin-1").replace(folder or "\0\0", "D/")
    if isinstance(value, np.ndarray):
        return [plain(each, folder) for each in value] if value.ndim else plain(value[()], folder)
    if isinstance(value, (np.bool_, bool)):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if isinstance(value, (np.floating, float)):
        return float(value) if np.isfinite(value) else str(float(value))
    return [plain(each, folder) for each in value]


def example(tf, features):
    """Return a serialized Example."""
    message = tf.train.Example()
    for name, values in features.items():
        put(message.features.feature[name], values)
    return message.SerializeToString()


def put(feature, values):
    """Set the values of a Feature; an empty list is one of floats, None is no list."""
    if values is None:
        return
    kind = {bytes: "bytes_list", float: "float_list", int: "int64_list"}
    chosen = getattr(feature, kind[type(values[0]) if values else float])
    chosen.SetInParent()
    chosen.value.extend(values)


def sequence(tf, context, lists):
    """Return a serialized SequenceExample."""
    message = tf.train.SequenceExample()
    message.context.CopyFrom(tf.train.Example.FromString(context).features)
    for name, steps in lists.items():
        chosen = message.feature_lists.feature_list[name]
        for values in steps:
            put(chosen.feature.add(), values or None)
    return message.SerializeToString()


def names(tf, folder):
    """Return the names that calls use."""

    def make(**features):
        return example(tf, features)

    def make_sequence(context, lists):
        return sequence(tf, context, lists)

    fixed, var, steps = tf.FixedLenFeature, tf.VarLenFeature, tf.FixedLenSequenceFeature
    return {
        "tf": tf, "np": np, "zlib": zlib, "gzip": gzip, "D": folder, "E": make, "Q": make_sequence,
        "F": fixed, "V": var, "S": steps, "P": tf.SparseFeature,
        "A": make(a=[1.0, 2.0], b=[3], c=[b"x", b"y"]), "B": make(a=[5.0, 6.0], c=[b"z"]),
        "N": make(), "I": make(ix=[3, 1], v=[0.5, 0.25]), "J": make(ix=[0], v=[9.0]),
        "K": make(i=[0, 1], j=[2, 3], v=[1.0, 2.0]),
        "C": {"b": fixed([2], tf.float32), "v": var(tf.int64)},
        "L": {"s": steps([], tf.int64), "w": var(tf.string), "m": steps([2], tf.float32, True)},
        "X": make_sequence(make(b=[1.0, 2.0], v=[7, 8, 9]), {
            "s": [[1], [2], [3]], "w": [[b"a", b"b"], [], [b"c"]], "m": [[1.0, 2.0]]}),
        "Y": make_sequence(make(b=[3.0, 4.0]), {"s": [[9]], "w": []}),
        "Z": make_sequence(make(b=[1.0, 2.0]), {}),
    }  # fmt: skip


def called(tf, source, folder):
    """Return nodes, types, static shapes and values of what a call gives, or its error."""
    with tf.Graph().as_default() as graph:
        result = tried(lambda: eval(source, names(tf, folder)), folder)
        if isinstance(result, dict) and "error" in result:
            return dict(result, when="building")
        tensors = flat(tf, result)
        nodes = [op.name + " " + op.type for op in graph.get_operations()]
        with tf.Session() as session:
            values = tried(lambda: session.run([each for _, each in tensors]), folder)
    found = {"nodes": nodes}
    if isinstance(values, dict):
        return dict(found, **values)
    found["outputs"] = [
        [name, *told(tensor), plain(value, folder)]
        for (name, tensor), value in zip(tensors, values)  # noqa: B905
        if value is not None
    ]
    return found


def told(tensor):
    """Return type and static shape of a tensor."""
    return [tensor.dtype.name, str(tensor.shape)]


def flat(tf, result, prefix=""):
    """Return (name, tensor) of everything in what a call gives."""
    if isinstance(result, dict):
        pairs = [(prefix + "." + key, result[key]) for key in sorted(result)]
        return [each for name, value in pairs for each in flat(tf, value, name)]
    if isinstance(result, (list, tuple)):
        pairs = [(prefix + str(i), value) for i, value in enumerate(result)]
        return [each for name, value in pairs for each in flat(tf, value, name)]
    if isinstance(result, tf.SparseTensor):
        parts = ("indices", "values", "dense_shape")
        return [(prefix + " " + part, getattr(result, part)) for part in parts]
    return [(prefix, result)]


def everything(tf, folder):
    """Return what a TensorFlow makes of all tables; `folder` ends with a slash."""
    return {
        "readers": {source: reads(tf, source, folder) for source in READERS},
        "damaged": {name: iterated(tf, folder + name, "") for name in DAMAGED},
        "records": {name: iterated(tf, folder + record_file(name), name) for name in COMPRESSIONS},
        "exchanged": {
            name: iterated(tf, folder + "ours/" + record_file(name), name)
            for name in COMPRESSIONS
            if os.path.exists(folder + "ours/" + record_file(name))
        },
        "calls": {
            source: called(tf, source, folder)
            for source in [csv_call(line) for line in table(CSV)] + table(PARSES + FILE_CALLS)
        },
    }


def csv_call(line):
    """Return the call that a line of CSV stands for."""
    return "(lambda r, d, k={}: tf.decode_csv(r, d, **k))(" + line + ")"


def main(folder):
    """Write RECORDS into a folder, and print what this Python's TensorFlow makes of everything."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    for compression in COMPRESSIONS:
        options = tf.python_io.TFRecordOptions(compression)
        with tf.python_io.TFRecordWriter(folder + record_file(compression), options) as writer:
            for record in RECORDS:
                writer.write(record)
    make_files(folder, folder)
    json.dump(everything(tf, folder), sys.stdout)


def run_real(command):
    """Return what a real TensorFlow says, and the files that it wrote, by name.

    Args:
      command: what runs its Python, as in a shell.
    """
    from tfdist.formats.tfrecord import TFRecordWriter

    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "ours"))
        for compression in COMPRESSIONS:
            path = os.path.join(folder, "ours/" + record_file(compression))
            with TFRecordWriter(path, compression) as writer:
                for record in RECORDS:
                    writer.write(record)
        script = [*shlex.split(command), os.path.abspath(__file__), "run", folder + "/"]
        done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True)
        files = {
            record_file(name): read(os.path.join(folder, record_file(name)))
            for name in COMPRESSIONS
        }
    return json.loads(done.stdout), files


def store(command):
    """Write the expectations, and the files, that are compared with where no TensorFlow is."""
    said, files = run_real(command)
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write(compact(said))
    os.makedirs(WRITTEN, exist_ok=True)
    for name, data in files.items():
        write(os.path.join(WRITTEN, name), data)


def compact(said):
    """Return JSON text with a line for each program."""
    parts = []
    for part, rows in said.items():
        lines = [
            json.dumps(key) + ": " + json.dumps(row, separators=(",", ":"))
            for key, row in rows.items()
        ]
        parts.append(json.dumps(part) + ": {\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1] == "run":
        main(sys.argv[2])
    else:
        store(sys.argv[1])

"""The same pipelines on a real TensorFlow: what it makes of them, as JSON.

This file runs on real TensorFlow's own Python, by its path, and imports nothing of ours but
`pipelines.py` beside it. To store what it says, so that comparing needs no real TensorFlow:

    python -m tests.datasets.differential "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shlex
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_1_15.json")

RECORDS = [b"first", b"", b"third record"]
TEXT = b"one\ntwo\r\n\nfour words are here\nlast"
# serialized Examples with x, two floats; the second one has s too, two whole numbers
EXAMPLES = [
    b"\n\x13\n\x11\n\x01x\x12\x0c\x12\n\n\x08\x00\x00\x80?\x00\x00\x00@",
    b"\n \n\x0b\n\x01s\x12\x06\x1a\x04\n\x02\x07\x08"
    b"\n\x11\n\x01x\x12\x0c\x12\n\n\x08\x00\x00@@\x00\x00\x80@",
]
TABLE = b'f,n,s\n1.5,2,abc\n,4,"x, ""y"""\n2.5,6,\n'


def crc(data):
    """Return the masked CRC-32C of bytes, as TFRecord files have it."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 * (value & 1))
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(records):
    """Return the content of a TFRecord file."""
    parts = []
    for record in records:
        length = struct.pack("<Q", len(record))
        parts += [length, struct.pack("<I", crc(length)), record, struct.pack("<I", crc(record))]
    return b"".join(parts)


def write_files(folder):
    """Write the files that the pipelines read."""
    content = framed(RECORDS)
    files = {
        "lines.txt": TEXT,
        "more.txt": b"more\n",
        "lines.gz": gzip.compress(TEXT),
        "lines.z": zlib.compress(TEXT),
        "records": content,
        "records.gz": gzip.compress(content),
        "damaged": content[:-2] + b"xx",
        "table.csv": TABLE,
        "examples": framed(EXAMPLES),
    }
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "table.db"))) as connection:
        connection.execute("CREATE TABLE rows (a INTEGER, b TEXT, c REAL)")
        connection.execute("INSERT INTO rows VALUES (1, 'x', 0.5), (2, NULL, 1.5), (3, 'z', NULL)")
        connection.commit()


def outcome(tf, environment, source, folder, most=40):
    """Return what a pipeline gives: its nodes, what it says of itself, and its elements.

    An error has the place where it came up: "build", or the number of elements before it.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        names = environment(tf, folder)
        try:
            dataset = eval(source, names)
        except Exception as error:
            return {"error": [type(error).__name__, "build"]}
        try:
            iterator = tf.data.make_initializable_iterator(dataset)
        except Exception as error:
            return {"error": [type(error).__name__, "iterator"]}
        following = iterator.get_next()
        found = {
            "types": shown(tf.data.get_output_types(dataset)),
            "shapes": shown(tf.data.get_output_shapes(dataset)),
            "nodes": nodes_of(graph),
            "functions": functions_of(graph),
        }
        found.update(elements(tf, iterator, following, most))
    return json.loads(json.dumps(found).replace(folder, "FOLDER"))


def shown(structure):
    """Return a structure of types or shapes as text."""
    if isinstance(structure, dict):
        parts = [f"{key}: {shown(structure[key])}" for key in sorted(structure)]
        return "{" + ", ".join(parts) + "}"
    if isinstance(structure, tuple):
        return f"({', '.join(map(shown, structure))})"
    if hasattr(structure, "as_list"):
        return "?" if structure.ndims is None else str(structure.as_list())
    return structure.name


def nodes_of(graph):
    """Return nodes as text: name, op, inputs, and attributes that tell something."""
    return [node_text(node) for node in graph.as_graph_def().node]


def node_text(node):
    attrs = []
    for key in sorted(node.attr):
        value = node.attr[key]
        kind = value.WhichOneof("value")
        if kind == "func":
            text = "function"
        elif kind == "tensor":
            continue
        else:
            text = str(value).replace("\n", " ").replace("  ", " ").strip()
        attrs.append(f"{key}={text}")
    return f"{node.name} = {node.op}({', '.join(node.input)}) [{'; '.join(attrs)}]"


def functions_of(graph):
    """Return name without number, arguments and results of each function that a stage applies."""
    found = []
    for function in graph.as_graph_def().library.function:
        arguments = [arg.name for arg in function.signature.input_arg]
        results = [arg.name for arg in function.signature.output_arg]
        name = function.signature.name.rstrip("0123456789").rstrip("_")
        if not name.startswith("__inference_"):  # a branch or a body
            continue
        found.append([name, arguments, results])
    return sorted(found)


def elements(tf, iterator, following, most):
    """Return the elements, and what ended them."""
    values, end = [], "still going"
    with tf.Session() as session:
        try:
            session.run(iterator.initializer)
            for _ in range(most):
                values.append(plain(session.run(following)))
        except Exception as error:
            end = type(error).__name__ + ": " + getattr(error, "message", str(error)).split("\n")[0]
    return {"elements": values, "end": end}


def plain(value):
    """Return an element as JSON can hold it, with the types of arrays."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    flat = [simple(each) for each in array.reshape(-1).tolist()]
    return [str(array.dtype), list(array.shape), flat]


def simple(element):
    if isinstance(element, bytes):
        return element.decode("latin-1")
    return float(f"{element:.7g}") if isinstance(element, float) else element


def everything(tf, pipelines):
    """Return the outcomes of all pipelines."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        return {
            source: outcome(tf, pipelines.environment, source, folder)
            for source in pipelines.lines()
        }


def store(command, script=__file__, expected=EXPECTED):
    """Ask a real TensorFlow, which runs `script`, and store what it says."""
    said = subprocess.run(
        [*shlex.split(command), os.path.abspath(script), "tell"],
        check=True, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    table = json.loads(said)
    with open(expected, "w") as file:
        lines = [f"{json.dumps(key)}: {json.dumps(table[key])}" for key in table]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    if sys.argv[1:] != ["tell"]:
        store(sys.argv[1])
        return
    sys.path.insert(0, HERE)
    import pipelines
    import tensorflow

    tf = tensorflow.compat.v1
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    json.dump(everything(tf, pipelines), sys.stdout)


if __name__ == "__main__":
    main()

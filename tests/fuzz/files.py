"""Damaged files: what a program reads, cut off and mutated, gives an error that says so.

Half of what is a protobuf message is mutated field by field instead. What a process is told about
its cluster, by TF_CONFIG or a file, counts as a file.

By hand, any number: `python -m tests.fuzz.files --cases 1000 --seed 7`, as many for each kind.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tfdist as tf
from tests.fuzz.mutations import mutate, mutated_bytes
from tests.fuzz.verdicts import complaint
from tfdist.cluster.resolve import resolve_role
from tfdist.errors import InvalidArgumentError, OpError
from tfdist.ops.functions.defun import Defun
from tfdist.protos import pb

Read = Callable[[Path], Any]

_WRITTEN = Path(__file__).parents[1] / "formats" / "checkpoint" / "written_by_1_15"


def _records(folder: Path) -> tuple[Path, Read]:
    path = folder / "records"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in (b"one", b"two" * 30, b""):
            writer.write(record)
    return path, lambda path: list(tf.python_io.tf_record_iterator(str(path)))


def _packed_records(folder: Path) -> tuple[Path, Read]:
    path = folder / "records.gz"
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter(str(path), options) as writer:
        writer.write(b"one" * 30)
    return path, lambda path: list(tf.python_io.tf_record_iterator(str(path), options))


def _checkpoint(folder: Path, suffix: str) -> tuple[Path, Read]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(np.arange(6.0).reshape(2, 3), name="v")
        tf.Variable(np.array([b"a", b"text"], object), name="s")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(tf.global_variables())
        prefix = saver.save(session, str(folder / "model"), write_meta_graph=False)

    def read(path: Path) -> Any:
        reader = tf.train.NewCheckpointReader(prefix)
        return [reader.get_tensor(name) for name in reader.get_variable_to_shape_map()]

    return Path(prefix + suffix), read


def _index(folder: Path) -> tuple[Path, Read]:
    return _checkpoint(folder, ".index")


def _data(folder: Path) -> tuple[Path, Read]:
    return _checkpoint(folder, ".data-00000-of-00001")


def _old_checkpoint(folder: Path) -> tuple[Path, Read]:
    path = folder / "old"
    path.write_bytes((_WRITTEN / "old").read_bytes())

    def read(path: Path) -> Any:
        reader = tf.train.NewCheckpointReader(str(path))
        return [reader.get_tensor(name) for name in reader.get_variable_to_shape_map()]

    return path, read


def _wav(folder: Path) -> tuple[Path, Read]:
    samples = np.linspace(-1, 1, 40, dtype=np.float32).reshape(20, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        data = bytes(session.run(tf.audio.encode_wav(samples, 8000)))
    return _decoded(folder, "a.wav", data, tf.audio.decode_wav)


def _loops(folder: Path) -> tuple[Path, Read]:
    """Functions, their gradients, loops and branches."""
    path = folder / "loops.meta"
    with tf.Graph().as_default():

        @Defun(tf.float32)
        def twice(a: Any) -> Any:
            return tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a + a), [0, a])[1]

        def body(a: Any) -> Any:
            return tf.cond(a > 1.0, lambda: a + x, lambda: tf.reshape(twice(a), []))

        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda a: a < 9.0, body, [x])
        tf.gradients(tf.identity(y, name="y"), [x])
        tf.train.export_meta_graph(str(path))

    def read(path: Path) -> None:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.train.import_meta_graph(str(path))
            x, y = (graph.get_tensor_by_name(f"{name}:0") for name in "xy")
            slope = tf.gradients(y, [x])
            session.run([y, *slope], {x: 0.5}, tf.RunOptions(timeout_in_ms=3000))

    return path, read


def _config(folder: Path) -> tuple[Path, Read]:
    path = folder / "config.json"
    path.write_text(
        '{"cluster": {"ps": ["localhost:2222"], "worker": {"0": "localhost:2223"}}, '
        '"task": {"type": "worker", "index": 0}, "environment": "cloud"}'
    )

    def read(path: Path) -> Any:
        text = path.read_text(errors="surrogateescape")
        return resolve_role(None, None, None, {"TF_CONFIG": text}, Path.read_text)

    return path, read


def _cluster(folder: Path) -> tuple[Path, Read]:
    path = folder / "cluster"
    path.write_text("ps=localhost:2222;worker=localhost:2223,[::1]:2224")

    def read(path: Path) -> Any:
        text = path.read_text(errors="surrogateescape")
        return resolve_role(text, "worker", "1", {}, lambda name: Path(name).read_text())

    return path, read


def _cluster_file(folder: Path) -> tuple[Path, Read]:
    path = folder / "cluster.json"
    path.write_text('{"ps": ["localhost:2222"], "worker": ["localhost:2223"]}')

    def read(path: Path) -> Any:
        return resolve_role(str(path), "ps", 0, {}, lambda name: Path(name).read_text())

    return path, read


def _events(folder: Path) -> tuple[Path, Read]:
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(folder / "events"))
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 3)
        writer.close()
    [path] = (folder / "events").iterdir()
    return path, lambda path: list(tf.train.summary_iterator(str(path)))


def _meta_graph(folder: Path) -> tuple[Path, Read]:
    path = folder / "graph.meta"
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        tf.train.export_meta_graph(str(path))

    def read(path: Path) -> None:
        with tf.Graph().as_default():
            tf.train.import_meta_graph(str(path))

    return path, read


def _text_graph(folder: Path) -> tuple[Path, Read]:
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1.0), 2.0, name="sum")
    path = Path(tf.train.write_graph(graph, str(folder), "graph.pbtxt"))

    def read(path: Path) -> None:
        graph_def = pb.from_text(pb.GraphDef, path.read_bytes())
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")

    return path, read


def _saved_model(folder: Path) -> tuple[Path, Read]:
    target = folder / "saved"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(target), {"x": x}, {"y": x + 1.0})

    def read(path: Path) -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.loader.load(session, ["serve"], str(target))

    return target / "saved_model.pb", read


def _decoded(folder: Path, name: str, data: bytes, decode: Callable[[Any], Any]) -> Any:
    path = folder / name
    path.write_bytes(data)
    graph = tf.Graph()
    with graph.as_default():
        fed = tf.placeholder(tf.string, [])
        fetched = decode(fed)
    session = tf.Session(graph=graph)
    return path, lambda path: session.run(fetched, {fed: path.read_bytes()})


def _encoded(encode: Callable[[Any], Any]) -> bytes:
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        return bytes(session.run(encode(tf.constant(pixels))))


def _png(folder: Path) -> tuple[Path, Read]:
    return _decoded(folder, "a.png", _encoded(tf.image.encode_png), tf.image.decode_png)


def _jpeg(folder: Path) -> tuple[Path, Read]:
    return _decoded(folder, "a.jpg", _encoded(tf.image.encode_jpeg), tf.image.decode_jpeg)


def _pillow(folder: Path, kind: str, decode: Callable[[Any], Any]) -> tuple[Path, Read]:
    from PIL import Image

    file = io.BytesIO()
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    Image.fromarray(pixels).save(file, kind)
    return _decoded(folder, f"a.{kind}", file.getvalue(), decode)


def _gif(folder: Path) -> tuple[Path, Read]:
    return _pillow(folder, "GIF", tf.image.decode_gif)


def _bmp(folder: Path) -> tuple[Path, Read]:
    return _pillow(folder, "BMP", tf.image.decode_bmp)


def _idx(folder: Path) -> tuple[Path, Read]:
    from tfdist.formats import idx

    path = folder / "images-idx3-ubyte"
    path.write_bytes(b"\0\0\x08\x03" + np.array([2, 3, 4], ">i4").tobytes() + bytes(range(24)))
    return path, lambda path: idx.read_idx(path)


def _example(folder: Path) -> tuple[Path, Read]:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.extend([1, 300])
    example.features.feature["b"].bytes_list.value.append(b"text")
    example.features.feature["c"].float_list.value.append(1.5)
    wanted = {
        "a": tf.FixedLenFeature([2], tf.int64), "b": tf.VarLenFeature(tf.string),
        "c": tf.FixedLenFeature([], tf.float32, 2.0),
    }  # fmt: skip
    data = example.SerializeToString()
    return _decoded(folder, "example", data, lambda x: tf.parse_single_example(x, wanted))


def _sequence_example(folder: Path) -> tuple[Path, Read]:
    example = tf.train.SequenceExample()
    example.context.feature["a"].int64_list.value.append(1)
    for _ in range(3):
        row = example.feature_lists.feature_list["b"].feature.add()
        row.float_list.value.append(1.5)
    wanted = (
        {"a": tf.FixedLenFeature([], tf.int64)},
        {"b": tf.FixedLenSequenceFeature([], tf.float32)},
    )
    data = example.SerializeToString()
    return _decoded(
        folder, "sequence", data, lambda x: tf.parse_single_sequence_example(x, *wanted)
    )


def _tensor(folder: Path) -> tuple[Path, Read]:
    data = tf.make_tensor_proto([[1, 2], [3, 4]]).SerializeToString()
    return _decoded(folder, "tensor", data, lambda x: tf.parse_tensor(x, tf.int32))


def _csv(folder: Path) -> tuple[Path, Read]:
    return _decoded(
        folder, "csv", b'1.5,2,"a ""b"" c"', lambda x: tf.decode_csv(x, [[1.0], [2], [""]])
    )


KINDS: dict[str, Callable[[Path], tuple[Path, Read]]] = {
    "TFRecord": _records, "TFRecord, packed": _packed_records, "checkpoint, index": _index,
    "checkpoint, data": _data, "events": _events, "meta graph": _meta_graph,
    "GraphDef, text": _text_graph, "saved model": _saved_model, "PNG": _png, "JPEG": _jpeg,
    "GIF": _gif, "BMP": _bmp, "idx": _idx, "Example": _example,
    "SequenceExample": _sequence_example, "TensorProto": _tensor, "CSV": _csv,
    "checkpoint, V1": _old_checkpoint, "WAV": _wav, "meta graph, loops": _loops,
    "TF_CONFIG": _config, "cluster, text": _cluster, "cluster, file": _cluster_file,
}  # fmt: skip

# Kinds that are messages, as a whole.
_MESSAGES = {
    "meta graph": pb.MetaGraphDef, "meta graph, loops": pb.MetaGraphDef,
    "saved model": pb.SavedModel,
    "Example": tf.train.Example, "SequenceExample": tf.train.SequenceExample,
    "TensorProto": pb.TensorProto,
}  # fmt: skip

# Classes in which TensorFlow's Python, or protobuf, tells of a graph that cannot be read.
_OF_GRAPHS = (OSError, ValueError, TypeError, KeyError, RuntimeError)
_ELSEWHERE: dict[str, tuple[type[Exception], ...]] = {
    "meta graph": _OF_GRAPHS, "saved model": _OF_GRAPHS,
    "GraphDef, text": (ValueError, TypeError), "meta graph, loops": (*_OF_GRAPHS, LookupError),
}  # fmt: skip


def failures(kind: str, seed: int, cases: int) -> Iterator[str]:
    """Yield what is wrong with the answers to damaged files of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        path, read = KINDS[kind](Path(folder))
        data = path.read_bytes()
        read(path)
        for case in range(cases):
            rng = random.Random(f"{seed}/{kind}/{case}")
            path.write_bytes(_mutated(kind, rng, data))
            what = _complaint(kind, read, path)
            if what:
                yield f"{kind}, seed {seed}, case {case}: {what}"


def _mutated(kind: str, rng: random.Random, data: bytes) -> bytes:
    if kind not in _MESSAGES or rng.random() < 0.5:
        return mutated_bytes(rng, data)
    message = _MESSAGES[kind].FromString(data)
    mutate(rng, message)
    return bytes(message.SerializeToString())


def _complaint(kind: str, read: Read, path: Path) -> str:
    try:
        read(path)
    except OpError as error:
        return complaint(error) and f"{complaint(error)}: {error!r:.300}"
    except _ELSEWHERE.get(kind, ()) as error:
        found = complaint(InvalidArgumentError(str(error) or "-"))
        return found and f"{found}: {error!r:.300}"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error!s:.200} at {last.filename}:{last.lineno}"
    return ""


def main(words: list[str]) -> int:
    """Play cases as the command line says; returns how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz.files")
    parser.add_argument("--cases", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append", help="all by default")
    asked = parser.parse_args(words)
    failed = 0
    for kind in asked.kind or KINDS:
        for failure in failures(kind, asked.seed, asked.cases):
            print(failure, flush=True)
            failed += 1
    print(f"{failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))

"""Exports of tf.contrib.session_bundle: here, and both ways between TensorFlow 1.15.5 and here."""

import json
import os
import subprocess

import pytest

import tfdist as tf
from tests.interop.directions import ONE
from tests.interop.interpreters import interpreters
from tests.training.session_bundle import session_bundle_programs as programs

bundle = tf.contrib.session_bundle
exporter, gc = bundle.exporter, bundle.gc

READ = {
    "files": [
        "assets", "checkpoint", "export.data-00000-of-00001", "export.index", "export.meta",
    ],
    "named": ["inputs", "line"],
    "scores": [[3.0]],
    "words": "ten",
}  # fmt: skip


def test_an_export_is_loaded_with_its_variables_assets_and_signatures(tmp_path):
    folder = programs.write(tf, bundle, str(tmp_path))
    assert os.path.basename(folder) == "00000007"
    assert programs.read(tf, bundle, folder) == READ
    session, meta = bundle.session_bundle.load_session_bundle_from_path(folder)
    assert session.run(["y:0", "words:0"], {"x:0": [[1.0, 1.0]]}) == [[[3.0]], b"ten"]
    assert meta.collection_def["serving_graph"].any_list.value
    with pytest.raises(RuntimeError, match=r"export\.meta"):
        bundle.session_bundle.load_session_bundle_from_path(tmp_path)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("version", [1, 2], ids=["first format", "second format"])
def test_variables_are_found_in_every_format(tmp_path, version, sharded):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(7, name="count").initializer)
        made = exporter.Exporter(tf.train.Saver(sharded=sharded, write_version=version))
        made.init()
        folder = made.export(tmp_path, "count:0", session)
    assert bundle.session_bundle.maybe_session_bundle_dir(folder)
    session, _ = bundle.session_bundle.load_session_bundle_from_path(folder)
    assert session.run("count:0") == 7


@pytest.mark.slow
@pytest.mark.skipif(ONE not in interpreters(), reason="TFDIST_TENSORFLOW names no TensorFlow 1.15")
def test_exports_go_both_ways(tmp_path):
    def there(*arguments):
        command = [interpreters()[ONE], "-W", "ignore", programs.__file__, *arguments]
        told = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert told.returncode == 0, told.stderr
        return told.stdout

    for each in ("here", "there"):
        (tmp_path / each).mkdir()
    ours = programs.write(tf, bundle, str(tmp_path / "here"))
    assert json.loads(there("read", ours)) == READ
    theirs = there("write", str(tmp_path / "there")).strip()
    assert programs.read(tf, bundle, theirs) == READ


def test_exports_that_a_filter_does_not_keep_are_removed(tmp_path):
    saver = tf.train.Saver([tf.Variable(1.0)])
    made = exporter.Exporter(saver)
    made.init()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for version in (3, 5, 12):
            made.export(tmp_path, tf.constant(version), session, gc.largest_export_versions(2))
        assert sorted(os.listdir(tmp_path)) == ["00000005", "00000012"]
        with pytest.raises(RuntimeError, match=r"Duplicate export dir.*00000012"):
            made.export(tmp_path, tf.constant(12), session)
    with pytest.raises(RuntimeError, match="only once"):
        made.init()
    with pytest.raises(RuntimeError, match="init must be called first"):
        exporter.Exporter(saver).export(tmp_path, tf.constant(1))


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (lambda: {"init_op": "x"}, TypeError, "init_op needs to be an Operation"),
        (lambda: {"init_op": tf.constant(1)}, TypeError, "init_op needs to be an Operation"),
        (lambda: {"assets_collection": ["x"]}, TypeError, "not a Tensor"),
        (lambda: {"assets_collection": [tf.placeholder("string")]}, TypeError, "Only constants"),
        (lambda: {"assets_collection": [tf.constant(1)]}, TypeError, "should be string"),
        (lambda: {"assets_collection": [tf.constant("")]}, ValueError, "invalid asset filepath"),
        (lambda: {"default_graph_signature": "x"}, TypeError, "Signature"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, error, told):
    with tf.Graph().as_default() as graph:
        made = exporter.Exporter(tf.train.Saver([tf.Variable(1.0)]))
        with pytest.raises(error, match=told):
            made.init(**arguments())
        assert not [key for key in graph.get_all_collection_keys() if key.startswith("serving")]


def test_a_file_that_is_not_there_cannot_be_copied(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match=r"nope\.txt"):
        exporter.gfile_copy_callback({str(tmp_path / "nope.txt"): "x"}, tmp_path / "made" / "deep")


VERSIONS = [5, 1, 2, 9, 3, 0, 6]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        (gc.largest_export_versions(2), [6, 9]),
        (gc.largest_export_versions(0), []),
        (gc.one_of_every_n_export_versions(3), [3, 6, 9]),
        (gc.mod_export_version(3), [0, 3, 6, 9]),
        (gc.union(gc.largest_export_versions(1), gc.mod_export_version(3)), [0, 3, 6, 9]),
        (gc.negation(gc.mod_export_version(3)), [1, 2, 5]),
    ],
)
def test_a_filter_keeps_what_tensorflows_keeps(keep, kept):
    paths = [gc.Path(f"p{each}", each) for each in VERSIONS]
    assert keep(paths) == [gc.Path(f"p{each}", each) for each in kept]

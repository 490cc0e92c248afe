"""MetaGraphs go both ways between TensorFlow 1.15.5 and here, and give the same once read.

`meta_programs.py` has the programs; what 1.15.5 wrote of each, and what it gave when it read that,
is stored. With TFDIST_TENSORFLOW set, it reads what is written here, too.
"""

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import tfdist as tf
from tests.interop.answers import assert_same
from tests.interop.directions import ONE
from tests.interop.interpreters import interpreters
from tests.training.saving import meta_programs
from tfdist.training.saving import collection_defs

STORED = Path(__file__).with_name("meta_graphs_1_15")
EXPECTED = Path(__file__).with_name("expected_meta_graphs_1_15.json")
# 1.15.5 has it as a collection of its own
NOT_HERE = {"iterators"}
# nodes that bring a value into a branch, and those of gradients, have names of their own here
OWN_NODES = {"rounds_in_rounds", "optimizer"}

PROGRAMS = pytest.mark.parametrize("name", meta_programs.PROGRAMS)


@cache
def expected():
    return json.loads(EXPECTED.read_text())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder of what is written here."""
    folder = tmp_path_factory.mktemp("meta")
    meta_programs.write(tf, folder)
    return folder


def check(found, name, but=()):
    wanted = expected()[name]
    for part in found.keys() & wanted.keys() - {*but}:
        assert_same(found[part], wanted[part], part)


def by_name(meta):
    return sorted(without_saver(meta.graph_def).node, key=lambda node: node.name)


def without_saver(graph_def):
    """Return a GraphDef without the nodes of the saver that reading one makes."""
    kept = [node for node in graph_def.node if not node.name.startswith("save/")]
    return tf.GraphDef(node=kept, versions=graph_def.versions)


@PROGRAMS
def test_what_tensorflow_wrote_gives_the_same(name):
    check(meta_programs.read(tf, STORED, name), name)


@PROGRAMS
def test_what_is_written_here_gives_the_same(name, written):
    found = meta_programs.read(tf, written, name)
    wanted = expected()[name]["collections"]
    assert found["collections"] == {k: v for k, v in wanted.items() if k not in NOT_HERE}
    check(found, name, but=["collections", *(["nodes"] if name in OWN_NODES else [])])


@pytest.mark.parametrize("name", sorted(meta_programs.PROGRAMS.keys() - OWN_NODES - {"dataset"}))
def test_nodes_are_written_with_the_same_attributes(name, written):
    ours, theirs = (
        tf.MetaGraphDef.FromString((folder / f"{name}.meta").read_bytes())
        for folder in (written, STORED)
    )
    assert by_name(ours) == by_name(theirs)  # here what brings values inside comes first
    assert ours.graph_def.versions == theirs.graph_def.versions
    ops = [[op.name for op in each.meta_info_def.stripped_op_list.op] for each in (ours, theirs)]
    assert ops[0] == ops[1]


@pytest.mark.slow
@pytest.mark.skipif(ONE not in interpreters(), reason="TFDIST_TENSORFLOW names no TensorFlow 1.15")
def test_tensorflow_reads_what_is_written_here(written):
    command = [interpreters()[ONE], "-W", "ignore", meta_programs.__file__, "read", str(written)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert told.returncode == 0, told.stderr
    for name, found in json.loads(told.stdout).items():
        check(found, name, but=["collections", *(["nodes"] if name in OWN_NODES else [])])


# arguments


@pytest.fixture
def layers():
    """Build a variable in scope "a" and one in scope "b", which takes it; return the graph."""
    with tf.Graph().as_default() as graph:
        with tf.name_scope("a"), tf.device("/job:ps"):
            v = tf.Variable(2.0, name="v")
        with tf.name_scope("b"):
            w = tf.Variable(3.0, name="w")
            with tf.control_dependencies([v.initializer]):
                tf.multiply(w, v, name="product")
        tf.add_to_collection("both", v.value())
        tf.add_to_collection("both", w.value())
        tf.add_to_collection("names", "c")
        yield graph


def names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_a_scope_around_what_is_read(layers):
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.name_scope("outer"):
        for prefix in ("outer/in", "outer/in_1"):
            tf.train.import_meta_graph(meta, import_scope="in")
            assert names()[-1] == f"{prefix}/b/product"
            assert tf.global_variables()[-1].name == f"{prefix}/b/w:0"
            assert tf.get_collection("both")[-2].name == f"{prefix}/a/v/read:0"
            assert tf.get_collection("names")[-1] == f"{prefix}/c"


def test_a_scope_that_is_written(layers):
    meta = tf.train.export_meta_graph(export_scope="b")
    found = {node.name: list(node.input) for node in meta.graph_def.node}
    assert found["product"] == ["w/read", "$unbound_inputs_a/v/read", "^$unbound_inputs_a/v/Assign"]
    assert list(meta.collection_def["both"].node_list.value) == ["w/read:0"]
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_a/v/read, "):
            tf.train.import_meta_graph(meta)
        first = tf.no_op(name="first")
        replaced = {"$unbound_inputs_a/v/read": tf.constant(5.0)}
        del meta.graph_def.node[-1].input[-1]
        meta.collection_def["unbound_inputs"].bytes_list.value.pop()
        tf.train.import_meta_graph(meta, input_map=replaced)
        assert first in tf.get_default_graph().get_operations()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run("product:0") == 15.0


@pytest.mark.parametrize("when", ["written", "read"])
def test_devices_can_be_left_out(layers, when):
    meta = tf.train.export_meta_graph(clear_devices=when == "written")
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, clear_devices=when == "read")
        nodes = without_saver(graph.as_graph_def()).node
        assert {node.device for node in nodes} == {""}
    assert any(node.device for node in meta.graph_def.node) == (when == "read")


def test_a_variable_is_one_object_in_all_collections(layers):
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        assert tf.global_variables() == tf.trainable_variables()


@pytest.mark.parametrize("as_text", [False, True])
def test_files_are_bytes_or_text(layers, tmp_path, as_text):
    path = tmp_path / "deeper" / "a.meta"
    meta = tf.train.export_meta_graph(str(path), as_text=as_text)
    assert path.read_bytes().startswith(b"meta_info_def {") == as_text
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(str(path))
        assert without_saver(graph.as_graph_def(add_shapes=True)) == meta.graph_def
    assert [each.name for each in path.parent.iterdir()] == ["a.meta"]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        pytest.param("none.meta", OSError, "none.meta does not exist", id="no file"),
        pytest.param("junk.meta", OSError, "Cannot parse file", id="no MetaGraph"),
        pytest.param(3, TypeError, "3", id="a number"),
        pytest.param(tf.GraphDef(), TypeError, "MetaGraphDef", id="a GraphDef"),
    ],
)
def test_what_is_no_meta_graph(tmp_path, monkeypatch, given, error, text):
    monkeypatch.chdir(tmp_path)
    Path("junk.meta").write_bytes(b"junk junk")
    with pytest.raises(error, match=text):
        tf.train.import_meta_graph(given)


@pytest.mark.parametrize("argument", ["meta_info_def", "graph"])
def test_arguments_of_the_wrong_type(argument):
    with pytest.raises(TypeError, match=argument):
        tf.train.export_meta_graph(**{argument: 3})


def test_collections_can_be_chosen(layers):
    meta = tf.train.export_meta_graph(collection_list=["both", "names"])
    assert sorted(meta.collection_def) == ["both", "names"]
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, restore_collections_predicate=lambda key: key == "both")
        assert graph.get_all_collection_keys() == ["both"]


def test_tags_and_versions(layers):
    info = tf.MetaGraphDef.MetaInfoDef(tags=["serve"], meta_graph_version="7")
    found = tf.train.export_meta_graph(meta_info_def=info).meta_info_def
    assert (list(found.tags), found.meta_graph_version) == (["serve"], "7")
    assert found.tensorflow_version == "1.15.5"
    assert not found.stripped_default_attrs


def test_attributes_that_have_their_default_can_be_left_out(layers):
    meta = tf.train.export_meta_graph(strip_default_attrs=True)
    assert meta.meta_info_def.stripped_default_attrs
    attrs = {node.op: sorted(node.attr) for node in meta.graph_def.node}
    assert attrs["VariableV2"] == ["_output_shapes", "dtype", "shape"]
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        assert without_saver(graph.as_graph_def()) == layers.as_graph_def()


def test_what_cannot_be_kept_is_told(layers, caplog):
    tf.add_to_collection("odd", object())
    with caplog.at_level("WARNING", logger="tensorflow"):
        meta = tf.train.export_meta_graph()
    assert "Issue encountered when serializing odd." in caplog.text
    assert "odd" not in meta.collection_def


SAVER = tf.train.SaverDef(
    filename_tensor_name="save/Const:0", save_tensor_name="save/done:0", restore_op_name="save/all"
)


def test_a_saver_is_kept(layers):
    meta = tf.train.export_meta_graph(saver_def=SAVER)
    meta.collection_def["savers"].bytes_list.value.append(SAVER.SerializeToString())
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(meta, import_scope="in")
        assert saver.as_saver_def().restore_op_name == "in/save/all"
        again = tf.train.export_meta_graph(saver_def=saver.as_saver_def(), export_scope="in")
        assert again.collection_def["savers"] == meta.collection_def["savers"]


def test_other_savers_can_be_left_out():
    with tf.Graph().as_default():
        for scope in ("save", "save_1"):
            with tf.name_scope(scope):
                tf.no_op(name="all")
            saver = tf.train.SaverDef(
                save_tensor_name=f"{scope}/done:0", restore_op_name=f"{scope}/all"
            )
            tf.add_to_collection("savers", tf.train.Saver(saver_def=saver))
        meta = tf.train.export_meta_graph(saver_def=saver, clear_extraneous_savers=True)
    assert [node.name for node in meta.graph_def.node] == ["save_1/all"]
    assert len(meta.collection_def["savers"].bytes_list.value) == 1


class Range:
    """Something of a program's own, kept as a message that stands nearby."""

    def __init__(self, first):
        self.first = first

    def to_proto(self, export_scope=None):
        return tf.train.FloatList(value=[self.first])

    @staticmethod
    def from_proto(proto, import_scope=None):
        return Range(proto.value[0])


def test_collections_of_a_programs_own(monkeypatch):
    monkeypatch.setattr(collection_defs, "_KINDS", {**collection_defs._KINDS})
    collection_defs.register_proto_function(
        "ranges", tf.train.FloatList, Range.to_proto, Range.from_proto
    )
    with tf.Graph().as_default():
        tf.add_to_collection("ranges", Range(1.5))
        meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        [found] = tf.get_collection("ranges")
    assert found.first == 1.5
    assert collection_defs.get_collection_proto_type("ranges") is tf.train.FloatList
    assert collection_defs.get_to_proto_function("variables") is not None
    with pytest.raises(TypeError):
        collection_defs.register_proto_function("ranges", to_proto=3)


def test_the_graph_is_written_again_as_it_was_read(written):
    for name in meta_programs.PROGRAMS:
        first = tf.MetaGraphDef.FromString((written / f"{name}.meta").read_bytes())
        with tf.Graph().as_default():
            tf.train.import_meta_graph(first)
            again = tf.train.export_meta_graph()
        assert by_name(again) == by_name(first)
        for key in ("cond_context", "while_context"):
            both = (each.collection_def[key].bytes_list.value for each in (first, again))
            assert len(next(both)) == len(next(both))

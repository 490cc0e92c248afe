"""SavedModels go both ways between TensorFlow 1.15.5 and here.

`saved_model_programs.py` writes and reads one; what 1.15.5 wrote is stored. With TFDIST_TENSORFLOW
set, it reads what is written here, too.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import tfdist as tf
from tests.interop.directions import ONE
from tests.interop.interpreters import interpreters
from tests.training.saved_model import saved_model_programs as programs
from tfdist.protos import pb

STORED = Path(__file__).with_name("saved_model_1_15")
VALUES = [[[4.0]], [1, 2, 3], [7, 0, 0]]
utils, saved = tf.saved_model.signature_def_utils, tf.saved_model


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder of a model that is written here."""
    return programs.write(tf, str(tmp_path_factory.mktemp("model")))


def proto_of(folder):
    return pb.parse(pb.SavedModel, (Path(folder) / "saved_model.pb").read_bytes())


@pytest.mark.parametrize("scope", [None, "inner"])
@pytest.mark.parametrize("tags", [["serve"], {"gpu", "serve"}])
def test_a_model_of_tensorflow_is_read(tags, scope):
    found = programs.read(tf, STORED, tags, scope)
    prefix = f"{scope}/" if scope else ""
    assert found["values"] == VALUES
    assert found["variables"] == [f"{prefix}bias:0", f"{prefix}kernel:0"]
    assert found["tags"] == sorted(tags)
    assert found["signatures"] == ([] if "gpu" in tags else ["serving_default", "words"])


def test_what_is_written_is_what_tensorflow_writes(written):
    """Nodes, savers, collections, signatures and files are the same."""
    ours, theirs = proto_of(written), proto_of(STORED)
    assert ours.saved_model_schema_version == theirs.saved_model_schema_version
    for one, other in zip(ours.meta_graphs, theirs.meta_graphs, strict=True):
        assert list(one.meta_info_def.tags) == list(other.meta_info_def.tags)
        assert one.saver_def == other.saver_def
        assert dict(one.signature_def) == dict(other.signature_def)
        assert one.collection_def.keys() == other.collection_def.keys()
        for key in ("saved_model_assets", "saved_model_main_op", "asset_filepaths"):
            assert one.collection_def[key] == other.collection_def[key]
        nodes = [{node.name: node.op for node in each.graph_def.node} for each in (one, other)]
        assert nodes[0] == nodes[1]
    assert files_in(written) == files_in(STORED)


def files_in(folder):
    return sorted(str(each.relative_to(folder)) for each in Path(folder).rglob("*"))


def test_a_model_is_read_wherever_it_is(written, tmp_path):
    """The vocabulary that it was made of is gone; its own is found beside it."""
    moved = shutil.copytree(written, tmp_path / "elsewhere")
    assert programs.read(tf, moved, ["serve"])["values"] == VALUES


@pytest.mark.slow
@pytest.mark.skipif(ONE not in interpreters(), reason="TFDIST_TENSORFLOW names no TensorFlow 1.15")
def test_tensorflow_reads_what_is_written_here(written):
    command = [interpreters()[ONE], "-W", "ignore", programs.__file__, "read", written]
    told = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["values"] == VALUES


def test_a_model_in_text_is_read(tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.multiply(x, 2.0, name="y")
    builder = saved.builder.SavedModelBuilder(tmp_path / "text")
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["serve"])
        assert builder.save(as_text=True).endswith(b"saved_model.pbtxt")
    assert saved.loader.maybe_saved_model_directory(tmp_path / "text")
    with tf.Session(graph=tf.Graph()) as session:
        saved.loader.load(session, ["serve"], tmp_path / "text")
        assert session.run("y:0", {"x:0": 3.0}) == 6.0


def test_two_files_of_one_name_are_both_kept(tmp_path):
    names = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v.txt").write_text(folder)
        names.append(tf.constant(str(tmp_path / folder / "v.txt")))
    builder = saved.builder.SavedModelBuilder(tmp_path / "model")
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, [], assets_collection=[*names, names[0]])
    assets = tmp_path / "model" / "assets"
    texts = {each.name: each.read_text() for each in assets.iterdir()}
    assert texts == {"v.txt": "a", "v.txt_1": "b"}


def test_a_model_that_is_not_there_or_not_one(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\xff")
    with tf.Session() as session:
        with pytest.raises(OSError, match=r"SavedModel file does not exist at: .*none/\{saved_mod"):
            saved.loader.load(session, ["serve"], tmp_path / "none")
        with pytest.raises(OSError, match="Cannot parse file"):
            saved.loader.load(session, ["serve"], tmp_path)
        with pytest.raises(RuntimeError, match=r"tags 'gpu' could not.*\[\['serve'\], \['gpu', 's"):
            saved.loader.load(session, ["gpu"], STORED)


def test_a_builder_takes_one_graph_with_variables_first(tmp_path):
    builder = saved.builder.SavedModelBuilder(tmp_path / "model")
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["serve"])
    with tf.Session() as session:
        with pytest.raises(TypeError, match="main_op needs to be an Operation: 3"):
            builder.add_meta_graph_and_variables(session, [], main_op=3)
        nameless = utils.build_signature_def({"x": pb.TensorInfo(dtype=1)}, {}, "m")
        with pytest.raises(AssertionError, match=r"'encoding' fields .*: 'x' has not"):
            builder.add_meta_graph_and_variables(session, [], {"key": nameless})
        with pytest.raises(TypeError, match="must be of dtype string"):
            builder.add_meta_graph_and_variables(session, [], assets_collection=[tf.constant(1)])
        builder.add_meta_graph_and_variables(session, [])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, [])
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        saved.builder.SavedModelBuilder(tmp_path)


# What is given to which function, and what it says.
BAD_SIGNATURES = [
    ("regression", ("f", "f"), "Regression examples must be a string Tensor"),
    ("regression", (None, "f"), "Regression examples cannot be None"),
    ("regression", ("s", None), "Regression predictions cannot be None"),
    ("regression", ("s", "s"), "Regression output must be a float Tensor"),
    ("classification", ("s", None, None), "classes and scores cannot both be None"),
    ("classification", ("s", "f", None), "Classification classes must be a string Tensor"),
    ("classification", ("s", None, "s"), "Classification scores must be a float Tensor"),
    ("predict", ({}, {"f": 1}), "Prediction inputs cannot be None or empty"),
    ("predict", ({"f": 1}, {}), "Prediction outputs cannot be None or empty"),
]


@pytest.mark.parametrize(("kind", "given", "text"), BAD_SIGNATURES)
def test_a_signature_that_is_none(kind, given, text):
    tensors = {"f": tf.zeros([2]), "s": tf.constant(["a"])}
    arguments = [tensors[each] if isinstance(each, str) else each for each in given]
    with pytest.raises(ValueError, match=text):
        getattr(utils, f"{kind}_signature_def")(*arguments)


def test_which_signatures_servers_know():
    text, number = tf.constant(["a"]), tf.zeros([1])
    info = saved.utils.build_tensor_info(number)
    valid = [
        utils.predict_signature_def({"x": number}, {"y": number}),
        utils.regression_signature_def(text, number),
        utils.classification_signature_def(text, text, number),
    ]
    assert [utils.is_valid_signature(each) for each in valid] == [True] * 3
    other = utils.build_signature_def({"x": info}, {"y": info}, "other")
    assert not utils.is_valid_signature(other)


def test_a_sparse_tensor_has_a_tensor_info():
    sparse = tf.sparse_placeholder(tf.float32, [2, 3])
    info = saved.utils.build_tensor_info(sparse)
    found = saved.utils.get_tensor_from_tensor_info(info)
    assert (found.values, found.indices) == (sparse.values, sparse.indices)


def test_a_predictor_runs_a_signature():
    predictor = tf.contrib.predictor.from_saved_model(STORED, signature_def_key="words")
    with predictor.session:
        found = predictor({"word": ["lake"]})
        assert {key: value.tolist() for key, value in found.items()} == {"ids": [1], "count": [7]}
        with pytest.raises(ValueError, match="unexpected keys"):
            predictor({"words": ["lake"]})
    with pytest.raises(ValueError, match=r"no signature 'none'; it has \['serving_default', 'wor"):
        tf.contrib.predictor.from_saved_model(STORED, signature_def_key="none")
    with pytest.raises(ValueError, match="must both be specified"):
        tf.contrib.predictor.from_saved_model(STORED, input_names={"a": "x:0"})

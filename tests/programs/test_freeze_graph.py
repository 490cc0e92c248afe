"""Graphs of files with the values of checkpoints in them: every way to name both, and mistakes."""

import pytest

import tfdist as tf
from tfdist.programs.freeze_graph import freeze_graph


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with a graph (g.pb, g.pbtxt), a saver, a checkpoint (m-3) and a model."""
    folder = tmp_path_factory.mktemp("frozen")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.device("/cpu:0"):
            w = tf.Variable([[1.0], [2.0]], name="w")
            b = tf.get_variable("b", initializer=[0.5], use_resource=True)
        y = tf.identity(tf.matmul(x, w) + b, name="y")
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        session.run(b.assign([7.0]))
        saver.save(session, f"{folder}/m", global_step=3)
        tf.train.write_graph(session.graph_def, str(folder), "g.pbtxt")
        tf.train.write_graph(session.graph_def, str(folder), "g.pb", as_text=False)
        tf.saved_model.simple_save(session, f"{folder}/model", {"x": x}, {"y": y})
    (folder / "saver.pb").write_bytes(saver.saver_def.SerializeToString())
    return folder


def frozen(files, *, binary=False, outputs="y", clear=True, initializers="", **changes):
    """Return what `freeze_graph` does, files named in `changes` by their name in the folder."""
    graph = "g.pb" if binary else "g.pbtxt"
    named = {"input_graph": graph, "input_saver": "", "input_checkpoint": "m-3"} | changes
    kept = ("variable_names_whitelist", "variable_names_blacklist")
    paths = {
        name: each if name in kept or not each else f"{files}/{each}"
        for name, each in named.items()
    }
    return freeze_graph(
        input_binary=binary, output_node_names=outputs, restore_op_name="",
        filename_tensor_name="", output_graph=f"{files}/out.pb", clear_devices=clear,
        initializer_nodes=initializers, **paths,
    )  # fmt: skip


def value(graph_def):
    """Return y of x = [[1, 1]]."""
    with tf.Graph().as_default(), tf.Session() as session:
        [y, x] = tf.import_graph_def(graph_def, return_elements=["y:0", "x:0"])
        return float(session.run(y, {x: [[1, 1]]})[0, 0])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({}, 10.0, id="a text graph, and a checkpoint's values"),
        pytest.param({"binary": True}, 10.0, id="a binary graph"),
        pytest.param({"binary": True, "input_saver": "saver.pb"}, 10.0, id="by a saver"),
        pytest.param(
            {"binary": True, "input_graph": "", "input_meta_graph": "m-3.meta"}, 10.0,
            id="a meta graph",
        ),
        pytest.param(
            {"input_graph": "", "input_checkpoint": "", "input_saved_model_dir": "model"}, 10.0,
            id="a SavedModel",
        ),
        pytest.param({"initializers": "b/Assign"}, 3.5, id="nodes that run first"),
    ],
)  # fmt: skip
def test_values_become_constants(files, arguments, expected):
    made = frozen(files, **arguments)
    assert {node.op for node in made.node if node.name in "wb"} == {"Const"}
    assert value(made) == expected
    assert (files / "out.pb").read_bytes() == made.SerializeToString()
    assert not any(node.device for node in made.node)


def test_devices_and_variables_may_stay(files):
    made = frozen(files, clear=False, variable_names_blacklist="w")
    ops = {node.name: (node.op, node.device) for node in made.node}
    assert ops["w"] == ("VariableV2", "/device:CPU:0")
    assert ops["b"][0] == "Const"
    only = frozen(files, variable_names_whitelist="w")
    assert {node.op for node in only.node if node.name in "wb"} == {"Const", "VarHandleOp"}


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"input_graph": "nix"}, OSError, "Input graph file '.*nix' does not exist!"),
        ({"input_saver": "nix"}, OSError, "Input saver file '.*nix' does not exist!"),
        ({"input_checkpoint": "nix"}, ValueError, "Input checkpoint '.*nix' doesn't exist!"),
        ({"outputs": ""}, ValueError, "supply the name of a node"),
        ({"outputs": "nix"}, AssertionError, "nix is not in graph"),
        ({"input_graph": "g.pb"}, ValueError, "no GraphDef as text .* input_binary=True reads"),
    ],
)
def test_mistakes_are_told(files, arguments, error, text):
    with pytest.raises(error, match=text):
        frozen(files, **arguments)

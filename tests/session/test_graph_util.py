"""tf.graph_util: parts of graphs, and variables that become constants."""

import numpy as np
import pytest

import tfdist as tf

graph_util = tf.graph_util


@pytest.fixture
def graph():
    """Build y = x + v behind identities, and what depends on y."""
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0], name="v")
        x = tf.placeholder(tf.float32, [2], name="x")
        i = tf.identity(x, name="i")
        with tf.control_dependencies([tf.identity(i, name="waited")]):
            j = tf.identity(i, name="waits")
        checked = tf.raw_ops.CheckNumerics(j, message="no number", name="checked")
        tf.add(tf.identity(checked, name="k"), v, name="y")
        tf.Variable(3, name="other")
        yield graph


def nodes(graph_def):
    return {node.name: list(node.input) for node in graph_def.node}


def test_what_leads_to_a_node(graph):
    part = graph_util.extract_sub_graph(graph.as_graph_def(), ["y"])
    assert list(nodes(part)) == ["v", "v/read", "x", "i", "waited", "waits", "checked", "k", "y"]
    assert part.versions.producer == 134


@pytest.mark.parametrize(
    ("given", "wanted", "error", "text"),
    [
        (tf.GraphDef(), ["none"], AssertionError, "none is not in graph"),
        (tf.GraphDef(), "none", TypeError, "must be a list"),
        (3, ["none"], TypeError, "GraphDef"),
    ],
)
def test_what_is_no_part(given, wanted, error, text):
    with pytest.raises(error, match=text):
        graph_util.extract_sub_graph(given, wanted)


def test_training_nodes_are_left_out(graph):
    found = nodes(graph_util.remove_training_nodes(graph.as_graph_def()))
    assert found["waits"] == ["x", "^waited"]
    assert found["y"] == ["waits", "v"]
    assert not {"i", "checked", "k", "v/read"} & found.keys()


def test_protected_nodes_stay(graph):
    found = nodes(graph_util.remove_training_nodes(graph.as_graph_def(), ["i", "checked"]))
    assert found["checked"] == ["waits"]
    assert found["waited"] == ["i"]


@pytest.mark.parametrize(
    ("arguments", "constant"),
    [
        ({}, {"v", "other"}),
        ({"variable_names_whitelist": ["v"]}, {"v"}),
        ({"variable_names_blacklist": ["v"]}, {"other"}),
    ],
)
def test_variables_become_constants(graph, arguments, constant):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.global_variables()[0].assign([5.0, 6.0]))
        frozen = graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["y", "other"], **arguments
        )
    assert {node.name for node in frozen.node if node.op == "Const"} == constant
    with tf.Graph().as_default(), tf.Session() as session:
        if not arguments:
            tf.import_graph_def(frozen, name="")
            assert session.run("y:0", {"x:0": [1.0, 1.0]}).tolist() == [6.0, 7.0]


def frozen(output, **arguments):
    """Return the GraphDef of `output` with constants for variables."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return graph_util.convert_variables_to_constants(
            session, session.graph_def, [output.op.name], **arguments
        )


def branches(v):
    return tf.cond(tf.placeholder_with_default(True, []), lambda: v + 1.0, lambda: v * 2.0)


def loop(v):
    return tf.while_loop(lambda x: x[0, 0] < 5.0, lambda x: x + v, [tf.ones([3, 2])])


USES = {
    "it is read twice": lambda v: v + v.read_value(),
    "its handle is handed on": lambda v: tf.raw_ops.ReadVariableOp(
        resource=tf.identity(v.handle), dtype=tf.float32
    ),
    "rows are gathered": lambda v: tf.nn.embedding_lookup(v, [2, 0]),
    "parts are gathered": lambda v: tf.gather_nd(v, [[0, 1]]),
    "its shape is asked for": lambda v: tf.raw_ops.VariableShape(input=v.handle),
    "in branches": branches,
    "in a loop": loop,
}


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_resource_variables_become_constants(use):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.ones([3, 2], np.float32), use_resource=True)
        result = tf.identity(use(v), name="result")
        found = frozen(result)
        with tf.Session() as session:
            session.run(v.initializer)
            wanted = session.run(result)
    ops = {node.op for node in found.node}
    assert not {op for op in ops if "Resource" in op or "Variable" in op or "Handle" in op}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(found, name="")
        assert session.run("result:0").tolist() == wanted.tolist()


def test_resource_variables_may_stay():
    with tf.Graph().as_default():
        v, w = (tf.get_variable(name, initializer=1.0, use_resource=True) for name in "vw")
        found = frozen(v + w, variable_names_blacklist=["w"])
    assert [node.op for node in found.node if node.name in "vw"] == ["Const", "VarHandleOp"]
    assert [node.op for node in found.node].count("ReadVariableOp") == 1


def test_a_variable_that_is_set_cannot_become_a_constant():
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        with pytest.raises(ValueError, match=r"'more' \(AssignAddVariableOp\) .* itself.*'v'"):
            frozen(v.assign_add(1.0, name="more"))


def test_a_variable_without_a_value_is_told(graph):
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match=r"\bv\b"):
        graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])


def test_what_has_to_be_on_a_cpu(graph):
    found = {op.name for op in graph.get_operations() if graph_util.must_run_on_cpu(op)}
    assert found == {"other/initial_value"}
    [variable] = [node for node in graph.as_graph_def().node if node.name == "v"]
    assert not graph_util.must_run_on_cpu(variable)
    assert graph_util.must_run_on_cpu(variable, pin_variables_on_cpu=True)
    with pytest.raises(AssertionError):
        graph_util.must_run_on_cpu("v")


def test_the_shape_of_a_tensor(graph):
    for name in ("v", "v:0"):
        assert graph_util.tensor_shape_from_node_def_name(graph, name).as_list() == [2]

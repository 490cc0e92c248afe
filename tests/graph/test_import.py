"""import_graph_def: nodes of a GraphDef come into the default graph; what does not fit is told."""

import numpy as np
import pytest
from google.protobuf import text_format

import tfdist as tf


@pytest.fixture
def graph_def():
    """Return a graph of a sum, a dependency, and a node with two outputs."""
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        tf.add(a, b, name="s")
        with tf.control_dependencies([a]):
            tf.no_op(name="n")
        x, y = tf.unstack(tf.constant([1, 2], name="i"), name="u")
        tf.add(x, y, name="xy")
        return graph.as_graph_def()


NAMES = ["a", "b", "s", "n", "i", "u", "xy"]


def inputs(element):
    return [tensor.name for tensor in getattr(element, "op", element).inputs]


def names(graph):
    return [op.name for op in graph.get_operations()]


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        pytest.param(None, "import/", id="import by default"),
        pytest.param("m", "m/", id="a name"),
        pytest.param("m/", "m/", id="a scope"),
        pytest.param("", "", id="none"),
    ],
)
def test_nodes_get_a_prefix(graph, graph_def, name, prefix):
    assert tf.import_graph_def(graph_def, name=name) is None
    assert names(graph) == [prefix + each for each in NAMES]
    assert inputs(graph.get_operation_by_name(f"{prefix}s")) == [f"{prefix}a:0", f"{prefix}b:0"]
    [waits_for] = graph.get_operation_by_name(f"{prefix}n").control_inputs
    assert waits_for.name == f"{prefix}a"


def test_a_second_import_has_a_scope_of_its_own(graph, graph_def):
    for _ in range(2):
        tf.import_graph_def(graph_def, name="m")
    assert names(graph)[len(NAMES) :] == [f"m_1/{each}" for each in NAMES]


def test_an_import_inside_a_scope(graph, graph_def):
    with tf.name_scope("o"):
        tf.import_graph_def(graph_def, name="m")
    assert names(graph)[0] == "o/m/a"


def test_return_elements(graph, graph_def):
    found = tf.import_graph_def(graph_def, return_elements=["s", "s:0", "u:1"])
    assert [each.name for each in found] == ["import/s", "import/s:0", "import/u:1"]
    assert isinstance(found[0], tf.Operation)


@pytest.mark.parametrize(
    ("mapped", "element", "expected"),
    [
        pytest.param("a:0", "s", ["mine:0", "import/b:0"], id="a tensor"),
        pytest.param("a", "s", ["mine:0", "import/b:0"], id="a node is its first output"),
        pytest.param("b", "s", ["import/a:0", "mine:0"], id="the other input"),
    ],
)
def test_input_map(graph_def, mapped, element, expected):
    mine = tf.constant(5.0, name="mine")
    [found] = tf.import_graph_def(graph_def, {mapped: mine}, [element])
    assert inputs(found) == expected


def test_one_output_of_several_can_be_mapped(graph_def):
    [found] = tf.import_graph_def(graph_def, {"u:1": tf.constant(5, name="mine")}, ["xy"])
    assert inputs(found) == ["import/u:0", "mine:0"]


def test_a_value_can_be_mapped(graph_def):
    [found] = tf.import_graph_def(graph_def, {"a": np.float32(7)}, ["s:0"])
    with tf.Session() as session:
        assert session.run(found) == 9.0


def change(path, value):
    """Return a function that sets `node[i].field...` of a GraphDef."""

    def apply(graph_def):
        exec(f"g.{path} = value", {"g": graph_def, "value": value})

    return apply


def without(attr):
    return lambda graph_def: graph_def.node[0].attr.pop(attr)


def integers_for_b(graph_def):
    graph_def.node[1].attr["dtype"].type = 3
    graph_def.node[1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(2))


BROKEN = [
    pytest.param(change("node[2].input[0]", "gone"), "gone", id="an input that is not there"),
    pytest.param(change("node[2].input[0]", "a:3"), "a:3|output 3", id="an output too many"),
    pytest.param(change("node[3].input[0]", "^gone"), "gone", id="a dependency that is not there"),
    pytest.param(lambda g: g.node.add().CopyFrom(g.node[0]), "'a'", id="a name that stands twice"),
    pytest.param(lambda g: g.node[2].input.append("b"), "3|inputs", id="an input too many"),
    pytest.param(lambda g: g.node[2].input.pop(), "1|inputs", id="an input too few"),
    pytest.param(integers_for_b, "int32", id="an input of another type"),
    pytest.param(without("dtype"), "'dtype'", id="an attribute that is missing"),
    pytest.param(change('node[2].attr["T"].type', 10), "bool", id="a type that is not allowed"),
    pytest.param(change("node[6].name", "a b"), "'a b'", id="a name that is no name"),
]


@pytest.mark.parametrize(("break_it", "text"), BROKEN)
def test_what_does_not_fit_is_told(graph_def, break_it, text):
    break_it(graph_def)
    with pytest.raises(ValueError, match=text):
        tf.import_graph_def(graph_def)


def test_an_unknown_op_is_told(graph_def):
    graph_def.node[0].op = "NoSuchOp"
    with pytest.raises(tf.errors.NotFoundError, match="'NoSuchOp'"):
        tf.import_graph_def(graph_def)


def test_shapes_that_do_not_fit_are_told():
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0, 2.0]), [1.0, 2.0], name="s")
    graph_def = graph.as_graph_def()
    graph_def.node[1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=r"import/s"):
        tf.import_graph_def(graph_def)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"input_map": {"zzz": 1.0}}, ValueError, id="a mapped name that nobody takes"),
        pytest.param({"input_map": {"a": 5}}, ValueError, id="a mapped value of another type"),
        pytest.param({"input_map": [1]}, TypeError, id="a map that is a list"),
        pytest.param({"return_elements": ["zzz"]}, ValueError, id="a result that is not there"),
        pytest.param({"return_elements": ["s:5"]}, ValueError, id="a result's fifth output"),
        pytest.param({"return_elements": ["s:0:0"]}, ValueError, id="a result that is no name"),
        pytest.param({"return_elements": [7]}, TypeError, id="a result that is a number"),
    ],
)
def test_arguments_that_do_not_fit(graph_def, arguments, error):
    with pytest.raises(error):
        tf.import_graph_def(graph_def, **arguments)


@pytest.mark.parametrize("junk", ["x", None, 3])
def test_what_is_no_graph_def(junk):
    with pytest.raises(TypeError):
        tf.import_graph_def(junk)


def test_nodes_may_stand_in_any_order(graph, graph_def):
    nodes = list(graph_def.node)
    del graph_def.node[:]
    graph_def.node.extend(reversed(nodes))
    [total] = tf.import_graph_def(graph_def, return_elements=["xy:0"])
    with tf.Session() as session:
        assert session.run(total) == 3
    assert sorted(names(graph)) == sorted(f"import/{each}" for each in NAMES)


def test_a_circle_is_told(graph_def):
    graph_def.node[2].input[0] = "s"
    with pytest.raises(ValueError, match="itself"):
        tf.import_graph_def(graph_def)


def test_scopes_around_apply(graph, graph_def):
    graph_def.node[1].device = "/cpu:0"
    first = tf.no_op(name="first")
    with tf.device("/job:ps"), tf.control_dependencies([first]):
        tf.import_graph_def(graph_def)
    devices = {op.name: op.device for op in graph.get_operations()[1:]}
    assert devices.pop("import/b") == "/job:ps/device:CPU:0"
    assert set(devices.values()) == {"/job:ps"}
    assert graph.get_operation_by_name("import/a").control_inputs == [first]


def test_colocation_follows_the_prefix(graph):
    with tf.Graph().as_default() as there:
        tf.Variable(1.0, name="v")
    tf.import_graph_def(there.as_graph_def())
    read = graph.get_operation_by_name("import/v/read")
    assert read.colocation_groups() == [b"loc:@import/v"]


def test_missing_attributes_take_their_defaults(graph):
    with tf.Graph().as_default() as there:
        tf.matmul(tf.zeros([2, 2]), tf.zeros([2, 2]), name="m")
    graph_def = there.as_graph_def()
    [product] = [node for node in graph_def.node if node.name == "m"]
    del product.attr["transpose_a"]
    [product] = tf.import_graph_def(graph_def, return_elements=["m"])
    assert product.get_attr("transpose_a") is False


def test_shapes_are_inferred_again():
    with tf.Graph().as_default() as there:
        tf.reduce_sum(tf.placeholder(tf.float32, [None, 3]), 1, name="r")
    [total] = tf.import_graph_def(there.as_graph_def(), return_elements=["r:0"])
    assert total.shape.as_list() == [None]


def test_an_export_of_an_import_is_the_same(graph):
    with tf.Graph().as_default() as there:
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.device("/job:ps"), tf.control_dependencies([v.initializer]):
            tf.Print(v + 1.0, ["text", v])
    graph_def = there.as_graph_def()
    tf.import_graph_def(graph_def, name="")
    assert graph.as_graph_def() == graph_def


def test_a_graph_def_survives_bytes(graph_def):
    copy = tf.GraphDef.FromString(graph_def.SerializeToString())
    [total] = tf.import_graph_def(copy, return_elements=["s:0"])
    with tf.Session() as session:
        assert session.run(total) == 3.0


def test_export_from_a_version_on(graph):
    tf.constant(1, name="a")
    version = graph.version
    tf.constant(2, name="b")
    assert [node.name for node in graph.as_graph_def(from_version=version).node] == ["b"]


def test_export_with_shapes(graph):
    tf.placeholder(tf.float32, [None, 2])
    [node] = graph.as_graph_def(add_shapes=True).node
    [shape] = node.attr["_output_shapes"].list.shape
    assert tf.TensorShape(shape).as_list() == [None, 2]
    assert graph.as_graph_def().versions.producer == 134


def node_with_class(value):
    text = f'node {{ name: "a" op: "NoOp" attr {{ key: "_class" value {{ {value} }} }} }}'
    return text_format.Parse(text, tf.GraphDef())


@pytest.mark.parametrize(
    "value",
    ["", "list {}", 'list { s: "zz" }', 'list { s: "loc:@a" }'],
)
def test_a_class_that_names_no_other_node_says_nothing(graph, value):
    tf.import_graph_def(node_with_class(value), name="")
    node = graph.get_operation_by_name("a")
    assert node.colocation_groups() == [b"loc:@a"]
    with tf.Session() as session:
        assert session.run(node) is None


@pytest.mark.parametrize("value", ['s: "loc:@a"', "list { i: 3 }", "i: 3", "b: false"])
def test_a_class_is_a_list_of_strings(graph, value):
    with pytest.raises(TypeError, match=r"'a': attribute '_class' is .*, no list of strings"):
        tf.import_graph_def(node_with_class(value))


def test_a_class_names_a_node_that_is_there(graph):
    with pytest.raises(ValueError, match="colocated with unknown node 'zz'"):
        tf.import_graph_def(node_with_class('list { s: "loc:@zz" }'))


def test_an_attribute_of_a_runtime_may_have_no_value(graph):
    text = 'node { name: "a" op: "NoOp" attr { key: "_x" value {} } }'
    tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="")
    assert graph.as_graph_def().node[0].name == "a"

"""Which GraphDefs are for this version, and what of other versions comes along."""

import pytest
from google.protobuf import text_format

import tfdist as tf

A_NODE = 'node { name: "a" op: "NoOp" attr { key: "foo" value { i: 1 } } }'


def graph_def(versions, node='node { name: "a" op: "NoOp" }'):
    return text_format.Parse(f"{node} versions {{ {versions} }}", tf.GraphDef())


def op_list(default):
    text = f'op {{ name: "NoOp" attr {{ name: "foo" type: "int" default_value {{ {default} }} }} }}'
    return text_format.Parse(text, tf.compat.v1.OpList())


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ("producer: 5000 min_consumer: 5000", "min consumer version 5000 above current version"),
        ("producer: 134 bad_consumers: 134", "disallows consumer version 134"),
        ("producer: -1", "producer version -1 below min producer 0"),
    ],
)
def test_graphs_that_are_not_for_this_version(versions, text):
    with pytest.raises(ValueError, match=text):
        tf.import_graph_def(graph_def(versions))


@pytest.mark.parametrize(
    ("versions", "left"),
    [
        ("producer: 134 min_consumer: 12", "producer: 134 min_consumer: 12"),
        ("producer: 27 bad_consumers: 5", "producer: 27 bad_consumers: 5"),
        ("producer: 10 min_consumer: -1", "producer: 10"),
        ("producer: 2000", "producer: 134"),
        ("", ""),
    ],
)
def test_a_graph_has_the_stricter_versions_of_what_it_got(graph, versions, left):
    tf.import_graph_def(graph_def(versions))
    wanted = graph_def(left).versions
    assert graph.graph_def_versions == wanted
    assert graph.as_graph_def().versions == wanted


def test_versions_of_a_graph_of_ours(graph):
    assert graph.graph_def_versions.producer == 134


def test_an_attribute_that_the_op_has_not_is_told(graph):
    with pytest.raises(ValueError, match=r"attr 'foo' not in Op<name=NoOp>.*node 'a'"):
        tf.import_graph_def(graph_def("producer: 134", A_NODE))


@pytest.mark.parametrize("default", ["i: 1", "i: 2"])
def test_it_may_have_the_default_that_its_writer_knows(graph, default):
    given = graph_def("producer: 134", A_NODE)
    if default == "i: 1":
        tf.import_graph_def(given, name="", producer_op_list=op_list(default))
        assert list(graph.as_graph_def().node[0].attr) == []
        assert list(given.node[0].attr) == ["foo"]
    else:
        with pytest.raises(ValueError, match="'foo'"):
            tf.import_graph_def(given, name="", producer_op_list=op_list(default))


def test_an_unknown_op_is_told_with_its_node_and_what_is_near(graph):
    node = 'node { name: "a" op: "Matmul" }'
    with pytest.raises(tf.errors.NotFoundError, match=r"'a'.*'Matmul'.*MatMul"):
        tf.import_graph_def(graph_def("producer: 134", node))


SHAPED = (
    'node {{ name: "a" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
    'attr {{ key: "shape" value {{ shape {{ {} }} }} }} '
    'attr {{ key: "_output_shapes" value {{ list {{ shape {{ dim {{ size: 3 }} }} }} }} }} }}'
)


def test_shapes_that_the_writer_knew_are_taken(graph):
    given = graph_def("producer: 134", SHAPED.format("unknown_rank: true"))
    [a] = tf.import_graph_def(given, return_elements=["a:0"])
    assert a.shape.as_list() == [3]
    assert "_output_shapes" not in a.op.node_def.attr


def test_shapes_that_cannot_be_are_told(graph):
    given = graph_def("producer: 134", SHAPED.format("dim { size: 2 }"))
    with pytest.raises(ValueError, match=r"'import/a' has an _output_shapes attribute inconsist"):
        tf.import_graph_def(given)

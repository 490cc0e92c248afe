"""write_graph: a graph in a file, whole, in text or bytes."""

import pytest
from google.protobuf import text_format

import tfdist as tf


@pytest.fixture
def one(graph):
    tf.constant(1.0, name="one")
    return graph


def test_text_by_default(one, tmp_path):
    path = tf.train.write_graph(one, str(tmp_path / "a" / "b"), "g.pbtxt")
    assert path == str(tmp_path / "a" / "b" / "g.pbtxt")
    with open(path) as file:
        assert text_format.Parse(file.read(), tf.GraphDef()) == one.as_graph_def()


def test_bytes(one, tmp_path):
    path = tf.io.write_graph(one.as_graph_def(), tmp_path, "g.pb", as_text=False)
    with open(path, "rb") as file:
        assert tf.GraphDef.FromString(file.read()) == one.as_graph_def()
    assert [each.name for each in tmp_path.iterdir()] == ["g.pb"]


def test_what_is_no_graph(tmp_path):
    with pytest.raises(TypeError, match="int"):
        tf.train.write_graph(3, tmp_path, "g")

"""Graphs cross as protobuf would write and read them, and large constants without its copies."""

import ml_dtypes
import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph_def import records_from_proto, records_to_proto
from tfdist.graph.records import Node
from tfdist.protos import pb
from tfdist.wire.codec import graphs
from tfdist.wire.codec.graphs import graph_pieces, split_graph

LARGE = 1 << 17  # bytes


def constant(name, value):
    return Node(name, "Const", attrs={"dtype": tf.as_dtype(value.dtype), "value": value})


def large(dtype, content=1):
    return np.full([2, LARGE // 2 // np.dtype(dtype).itemsize], content, dtype)


NODES = [
    constant("small", np.array(1.0, np.float32)),
    constant("large", large(np.float32)),
    Node("sum", "Add", (("small", 0), ("large", 0)), ("after",), "/cpu:0", {"T": tf.float32}),
    constant("larger", large(np.float64)),
    constant("largest", large(np.int8)),
    constant("after", np.array([b"text" * 40_000], object)),
]


def sent(nodes, **fields):
    request = pb.ExtendSessionRequest(session_handle="s", **fields)
    return graph_pieces(request, 2, nodes)


def test_protobuf_reads_what_is_written():
    read = pb.ExtendSessionRequest.FromString(b"".join(sent(NODES, current_graph_version=3)))
    assert (read.session_handle, read.current_graph_version) == ("s", 3)
    assert read.graph_def.versions.producer == 134
    wanted = {node.name: node for node in records_to_proto(NODES).node}
    assert [node.name for node in read.graph_def.node] == list(wanted)
    for node in read.graph_def.node:
        if node.op == "Const":  # what aligns a large constant says nothing
            node.attr["value"].tensor.ClearField("version_number")
        assert node == wanted[node.name]


@pytest.mark.parametrize("by_protobuf", [True, False], ids=["by protobuf", "by tfdist"])
def test_a_graph_arrives_as_it_was_sent(by_protobuf):
    if by_protobuf:
        request = pb.ExtendSessionRequest(graph_def=records_to_proto(NODES), session_handle="s")
        data = request.SerializeToString()
    else:
        data = b"".join(sent(NODES))
    message, values = split_graph(pb.ExtendSessionRequest, memoryview(data), 2)
    assert message.session_handle == "s"
    assert sorted(values) == ["after", "large", "larger", "largest"]
    assert message.ByteSize() < 2_000
    got = {node.name: node for node in records_from_proto(message.graph_def, False, values)}
    for node in NODES:
        assert got[node.name].inputs == node.inputs
        if node.op == "Const":
            np.testing.assert_array_equal(got[node.name].attrs["value"], node.attrs["value"])
            assert got[node.name].attrs["value"].dtype == node.attrs["value"].dtype


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.bool_, np.complex64])
def test_a_large_constant_is_sent_from_its_own_memory(dtype):
    value = large(dtype)
    [content] = [each for each in sent([constant("c", value)]) if len(each) > 1000]
    assert np.frombuffer(content, np.uint8).ctypes.data == value.ctypes.data


def test_a_very_large_constant_is_received_in_the_messages_memory(monkeypatch):
    monkeypatch.setattr(graphs, "_SHARED", LARGE)
    data = b"".join(sent(NODES))
    _, values = split_graph(pb.ExtendSessionRequest, memoryview(data), 2)
    for name in ("large", "larger", "largest"):
        assert np.shares_memory(values[name]["value"], np.frombuffer(data, np.uint8))


def damaged(node):
    """Return the request of a graph of one NodeDef."""
    return pb.ExtendSessionRequest(graph_def=pb.GraphDef(node=[node])).SerializeToString()


def test_a_constant_that_does_not_fill_its_shape_is_named():
    node = records_to_proto([constant("odd", large(np.float32))]).node[0]
    node.attr["value"].tensor.tensor_shape.dim[0].size = 3
    with pytest.raises(InvalidArgumentError, match=r"node 'odd': .* bytes of content instead of"):
        split_graph(pb.ExtendSessionRequest, memoryview(damaged(node)), 2)


def test_a_message_that_is_cut_off_is_refused():
    data = b"".join(sent(NODES))
    for end in range(len(data) - 200_000, len(data), 39_119):
        with pytest.raises(InvalidArgumentError, match="malformed"):
            split_graph(pb.ExtendSessionRequest, memoryview(data[:end]), 2)


def test_a_graph_is_told_to_be_too_large_before_it_is_sent():
    huge = np.broadcast_to(np.float32(0), (2**29,))  # 2 GB that take 4 bytes
    nodes = [constant("small", np.array(1.0, np.float32)), constant("huge", huge)]
    with pytest.raises(InvalidArgumentError, match="constant is 'huge' with 2147483648") as raised:
        sent(nodes)
    assert raised.value.node_name == "huge"

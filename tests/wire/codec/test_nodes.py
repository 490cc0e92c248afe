"""Nodes as bytes: protobuf reads what it would have written itself."""

import ml_dtypes
import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.graph_def import record_to_proto
from tfdist.graph.records import Node, records
from tfdist.protos import pb
from tfdist.wire.codec.nodes import node_bytes


def const(value):
    return Node("c", "Const", attrs={"dtype": tf.as_dtype(value.dtype), "value": value})


def node(**attrs):
    return Node("n", "NoOp", attrs=attrs)


NODES = {
    "a node that says nothing": Node("n", "NoOp"),
    "inputs, ports, control, and a device": Node(
        "n", "AddN", (("a", 0), ("b", 3)), ("c", "d"), "/job:ps/task:0"
    ),
    "a name that is long, and not in ASCII": Node("\xe9" * 200, "NoOp"),
    "numbers that are equal, of several types": node(a=1, b=True, c=1.0, d=0, e=False, f=0.0),
    "negative zero": node(a=-0.0),
    "its positive one after it": node(a=0.0),
    "texts": node(a=b"", b=b"short", c=b"long" * 100),
    "types and shapes": node(T=tf.float32, a=tf.TensorShape([2, None]), b=tf.TensorShape(None)),
    "lists": node(a=[1, 2], b=[tf.float32, tf.int8], c=[], d=[b"x"], e=[tf.TensorShape([1])]),
    "a scalar": const(np.array(2.5, np.float32)),
    "the same bytes of another type": const(np.array(2.5, np.float32).view(np.int32)),
    "and of another shape": const(np.array([2.5], np.float32)),
    "an array": const(np.arange(100.0)),
    "bfloat16": const(np.ones(3, ml_dtypes.bfloat16)),
    "strings": const(np.array([b"a", b"b"], object)),
    "what later versions only know": Node(
        "n", "AssignVariableOp", attrs={"dtype": tf.float32, "validate_shape": False}
    ),
}


@pytest.mark.parametrize("record", NODES.values(), ids=NODES)
def test_protobuf_reads_what_it_would_have_written(record):
    for _ in range(2):  # the second time, attributes are kept
        assert pb.NodeDef.FromString(node_bytes(record)) == record_to_proto(record)


def test_a_training_is_read_as_it_is():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4])
        w = tf.Variable(tf.random_normal([4, 2], seed=1))
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits(
                labels=tf.one_hot([0, 1], 2), logits=tf.matmul(x, w)
            )
        )
        tf.train.AdamOptimizer().minimize(loss)
    for each in records(graph.get_operations()):
        assert pb.NodeDef.FromString(node_bytes(each)) == record_to_proto(each)

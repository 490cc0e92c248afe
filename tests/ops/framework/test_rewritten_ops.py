"""What TensorFlow's master makes of a user's nodes computes what those did."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf

A = np.array([[1.0, -2.0, 3.0], [0.5, 1.0, -1.0]], np.float32)
B = np.array([[0.5, 1.0], [-1.0, 2.0], [0.25, -0.5]], np.float32)


def node(name: str, op: str, *inputs: str, **attrs: object) -> object:
    """Return a NodeDef."""
    from tfdist.graph.tensor_proto import attr_to_proto
    from tfdist.protos import pb

    made = pb.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        made.attr[key].CopyFrom(attr_to_proto(value))
    return made


def results(*nodes: object, **feeds: object) -> object:
    """Return what the last of `nodes` gives; `feeds` are placeholders."""
    from tfdist.protos import pb

    with tf.Graph().as_default(), tf.Session() as session:
        fed = {tf.placeholder(tf.float32, name=name): value for name, value in feeds.items()}
        wanted = [f"{nodes[-1].name}:0"]
        inputs = {each.op.name: each for each in fed}
        made = tf.import_graph_def(
            pb.GraphDef(node=nodes), {f"{k}:0": v for k, v in inputs.items()}, wanted, name="part"
        )
        return session.run(made[0], fed)


@pytest.mark.parametrize(
    ("fused", "after"),
    [
        ([b"BiasAdd"], lambda y: y),
        ([b"BiasAdd", b"Relu"], lambda y: np.maximum(y, 0)),
        ([b"BiasAdd", b"Relu6"], lambda y: np.clip(y, 0, 6)),
        ([b"BiasAdd", b"Elu"], lambda y: np.where(y > 0, y, np.expm1(y))),
        ([b"BiasAdd", b"Tanh"], np.tanh),
        ([b"BiasAdd", b"Sigmoid"], lambda y: 1 / (1 + np.exp(-y))),
        ([b"BiasAdd", b"LeakyRelu"], lambda y: np.where(y > 0, y, 0.25 * y)),
    ],
)
def test_a_fused_product_does_what_follows_it_too(fused, after):
    product = node(
        "product", "_FusedMatMul", "a", "b", "bias", T=tf.float32, num_args=1, fused_ops=fused,
        leakyrelu_alpha=0.25,
    )  # fmt: skip
    bias = np.array([0.5, -0.5], np.float32)
    found = results(product, a=A, b=B, bias=bias)
    np.testing.assert_allclose(found, after(A @ B + bias), rtol=1e-5)


def test_a_fused_convolution_does_what_follows_it_too():
    images, filters = np.ones([1, 2, 2, 1], np.float32), np.ones([2, 2, 1, 2], np.float32)
    scale, offset, mean, variance = np.float32([[1, 2], [0, -9], [1, 1], [4, 0.25]])
    convolution = node(
        "out", "_FusedConv2D", "x", "w", "scale", "offset", "mean", "variance", T=tf.float32,
        num_args=4, strides=[1, 1, 1, 1], padding=b"VALID", epsilon=0.0,
        fused_ops=[b"FusedBatchNorm", b"Relu"],
    )  # fmt: skip
    parts = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
    found = results(convolution, x=images, w=filters, **parts)
    np.testing.assert_allclose(found, [[[[1.5, 3.0]]]], rtol=1e-6)


def test_what_cannot_be_fused_is_told():
    product = node("p", "_FusedMatMul", "a", "b", T=tf.float32, num_args=0, fused_ops=[b"Unheard"])
    with pytest.raises(tf.errors.UnimplementedError, match="disable_meta_optimizer"):
        results(product, a=A, b=B)


def test_composed_ops_run_in_order():
    composed = node("y", "_UnaryOpsComposition", "a", T=tf.float32, op_names=[b"Square", b"Tanh"])
    np.testing.assert_allclose(results(composed, a=A), np.tanh(A * A), rtol=1e-5)


def test_a_temporary_variable_is_filled_and_read():
    found = results(
        node("sum", "TemporaryVariable", dtype=tf.float32, shape=tf.TensorShape([2, 3]),
             var_name=b"sum"),
        node("first", "Assign", "sum", "a", T=tf.float32),
        node("second", "AssignAdd", "first", "a", T=tf.float32),
        node("value", "DestroyTemporaryVariable", "second", T=tf.float32, var_name=b"sum"),
        a=A,
    )  # fmt: skip
    np.testing.assert_array_equal(found, A + A)

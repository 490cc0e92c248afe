"""Frozen graphs without what inference does not need give what they gave."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import raw
from tfdist.programs.optimize_for_inference import optimize_for_inference, strip_unused

IMAGE = np.linspace(0, 1, 72).reshape(1, 6, 6, 2)


def numbers(count, divisor):
    return tf.Variable(np.arange(1, count + 1, dtype=np.float32) / divisor)


def fused(images, is_training=False):
    parts = [numbers(images.shape[-1].value, divisor) for divisor in (2, 3, 4, 5)]
    if is_training:
        return tf.nn.fused_batch_norm(images, *parts[:2])[0]
    return tf.nn.fused_batch_norm(images, *parts, is_training=False)[0]


def plain(images):
    parts = [numbers(images.shape[-1].value, divisor) for divisor in (2, 3, 4, 5)]
    return raw.BatchNormWithGlobalNormalization(
        images, *parts, variance_epsilon=1e-3, scale_after_normalization=True
    )


def convolution(images):
    kernel = tf.Variable(np.linspace(-1, 1, 72, dtype=np.float32).reshape(3, 3, 2, 4))
    return tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")


def depthwise(images):
    kernel = tf.Variable(np.linspace(-1, 1, 54, dtype=np.float32).reshape(3, 3, 2, 3))
    return tf.nn.depthwise_conv2d(images, kernel, [1, 1, 1, 1], "SAME")


def frozen(model):
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, 6, 6, 2], name="input")
        found = model(tf.identity(images, name="before"))
        tf.check_numerics(tf.nn.relu(tf.identity(found)), "", name="output")
        session.run(tf.global_variables_initializer())
        return tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["output"])


def outputs(graph_def, fed="input"):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("output:0", {f"{fed}:0": IMAGE})


@pytest.mark.parametrize("norm", [fused, plain])
@pytest.mark.parametrize("filters", [convolution, depthwise])
def test_a_normalization_becomes_part_of_the_convolution(norm, filters):
    graph = frozen(lambda images: norm(filters(images)))
    small = optimize_for_inference(graph, ["input"], ["output"], tf.float32.as_datatype_enum)
    kinds = sorted(node.op for node in small.node)
    assert kinds[:3] == ["BiasAdd", "CheckNumerics", "Const"]
    assert len(kinds) == 7  # and Const, the convolution, Placeholder, Relu
    np.testing.assert_allclose(outputs(small), outputs(graph), rtol=1e-4, atol=1e-5)


def shared(images):
    found = convolution(images)
    return fused(found) + found


@pytest.mark.parametrize(
    "model", [shared, fused, lambda images: fused(convolution(images), is_training=True)]
)
def test_a_normalization_stays_where_it_cannot_become_part_of_one(model):
    graph = frozen(model)
    small = optimize_for_inference(graph, ["input"], ["output"], tf.float32.as_datatype_enum)
    assert "FusedBatchNorm" in {node.op[:14] for node in small.node}
    np.testing.assert_allclose(outputs(small), outputs(graph), rtol=1e-4, atol=1e-5)


def test_what_stands_before_the_inputs_goes():
    graph = frozen(convolution)
    small = strip_unused(graph, ["before"], ["output"], [1])
    assert [node.name for node in small.node if node.op == "Placeholder"] == ["before"]
    np.testing.assert_allclose(outputs(small, "before"), outputs(graph), rtol=1e-5)


def test_mistakes_are_told():
    graph = frozen(convolution)
    with pytest.raises(KeyError, match="input nodes were not found"):
        strip_unused(graph, ["nope"], ["output"], 1)
    graph.node.append(graph.node[0])
    with pytest.raises(ValueError, match="Duplicate node names"):
        optimize_for_inference(graph, ["input"], ["output"], 1)

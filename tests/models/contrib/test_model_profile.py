"""Parameters and float operations of graphs, as 1.15 counts them."""

import pytest

import tfdist as tf
from tfdist.models.contrib.model_profile import float_ops

PROFILER = tf.profiler.ProfileOptionBuilder


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def images():
    return tf.ones([2, 9, 9, 3])


def rows():
    return tf.ones([2, 3])


def gradient(function):
    given = images()
    return tf.gradients(tf.reduce_sum(function(given)), given)[0]


def convolution(given):
    return tf.nn.conv2d(given, tf.ones([3, 2, 3, 5]), [1, 2, 2, 1], "SAME")


def average(given):
    return tf.nn.avg_pool(given, [1, 3, 2, 1], [1, 2, 2, 1], "VALID")


def largest(given):
    return tf.nn.max_pool(given, [1, 3, 2, 1], [1, 1, 1, 1], "SAME")


COUNTS = {
    "MatMul": (lambda: tf.matmul(rows(), rows(), transpose_a=True), 36),
    "Conv2D": (lambda: convolution(images()), 9000),
    "Conv2DBackpropInput": (lambda: gradient(convolution), 7290),
    "DepthwiseConv2dNative": (
        lambda: tf.nn.depthwise_conv2d(images(), tf.ones([3, 2, 3, 2]), [1, 1, 1, 1], "SAME"),
        11664,
    ),
    "AvgPool": (lambda: average(images()), 576),
    "AvgPoolGrad": (lambda: gradient(average), 1152),
    "MaxPoolGrad": (lambda: gradient(largest), 3402),
    "Softmax": (lambda: tf.nn.softmax(rows()), 30),
    "L2Loss": (lambda: tf.nn.l2_loss(rows()), 17),
    "Mean": (lambda: tf.reduce_mean(rows(), 1), 6),
    "Sum": (lambda: tf.reduce_sum(rows(), 0), 3),
    "AddN": (lambda: tf.add_n([rows()] * 3), 12),
    "Rsqrt": (lambda: tf.rsqrt(rows()), 12),
    "Relu": (lambda: tf.nn.relu(rows()), 0),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_float_operations_are_those_of_tensorflow(kind, graph):
    make, count = COUNTS[kind]
    make()
    [op] = [op for op in graph.get_operations() if op.type == kind]
    assert float_ops(op) == count


def test_what_has_no_known_shape_does_not_count():
    assert float_ops(tf.square(tf.placeholder(tf.float32, [None, 3])).op) == 0


def model():
    with tf.variable_scope("a"):
        kernel = tf.get_variable("w", [3, 3, 3, 4])
        hidden = tf.nn.conv2d(tf.ones([2, 8, 8, 3]), kernel, [1, 1, 1, 1], "SAME")
    return tf.layers.dense(tf.layers.flatten(hidden), 5, name="fc")


def test_parameters_are_told_by_scopes(graph, capsys):
    model()
    options = PROFILER.trainable_variables_parameter()
    found = tf.profiler.profile(graph, options=options)
    assert found.total_parameters == 108 + 1280 + 5
    assert [(each.name, each.total_parameters) for each in found.children] == [
        ("a", 108), ("fc", 1285),
    ]  # fmt: skip
    said = capsys.readouterr().out
    assert (
        "node name | # parameters\n_TFProfRoot (--/1.39k params)\n  a (--/108 params)\n"
        "    a/w (3x3x3x4, 108/108 params)\n  fc (--/1.28k params)\n    fc/bias (5, 5/5 params)\n"
    ) in said


def test_the_largest_comes_first_and_nothing_need_be_printed(graph, capsys):
    model()
    options = PROFILER(PROFILER.float_operation()).with_empty_output().build()
    found = tf.profiler.profile(graph, cmd="op", options=options)
    assert (found.children[0].name, found.children[0].float_ops) == ("a/Conv2D", 27648)
    assert not capsys.readouterr().out
    analyzer = tf.contrib.tfprof.model_analyzer
    again = analyzer.print_model_analysis(graph, tfprof_options=analyzer.FLOAT_OPS_OPTIONS)
    assert again.total_float_ops == found.total_float_ops
    assert "a/Conv2D (27.65k/27.65k flops)" in capsys.readouterr().out


def test_an_unknown_command_is_told():
    with pytest.raises(ValueError, match="unknown command 'time'"):
        tf.profiler.profile(cmd="time")

"""Graphs to be drawn: small, with gradients, with a loop, with layers in a row, and large ones."""

import tfdist as tf


def tutorial_graph():
    """Return a variable on the ps, and an addition on each worker."""
    graph = tf.Graph()
    with graph.as_default():
        with tf.device("/job:ps"):
            a = tf.Variable(1.0, name="a")
        with tf.device("/job:worker/task:0"):
            b = tf.add(a, 2.0, name="b")
        with tf.device("/job:worker/task:1"):
            x = tf.placeholder(tf.float32, [], name="x")
            tf.multiply(b, x, name="c")
    return graph


def trained_graph():
    """Return a network of three layers with its gradients, Adam, a saver and a step."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(tf.train.replica_device_setter(ps_tasks=1)):
        hidden = x = tf.placeholder(tf.float32, [None, 8], name="x")
        for i in range(3):
            with tf.variable_scope(f"layer_{i + 1}"):
                w = tf.get_variable("w", [hidden.shape[1], 6 - i])
                hidden = tf.nn.relu(tf.matmul(hidden, w))
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(tf.square(hidden - tf.reduce_sum(x)))
        step = tf.train.get_or_create_global_step()
        tf.train.AdamOptimizer().minimize(loss, step)
        tf.global_variables_initializer()
        tf.train.Saver()
    return graph


def looping_graph():
    """Return a loop and its gradient."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        power = tf.while_loop(lambda i, _: i < 9, lambda i, p: (i + 1, p * x), (0, 1.0))[1]
        tf.gradients(power, x)
    return graph


def towering_graph(layers, other_every=0):
    """Return layers in a row that are made alike, with something else after every few of them."""
    graph = tf.Graph()
    with graph.as_default():
        hidden = tf.placeholder(tf.float32, [None, 4], name="x")
        for i in range(layers):
            with tf.variable_scope(f"layer_{i}"):
                w = tf.get_variable("w", [4, 4])
                hidden = tf.tanh(tf.matmul(hidden, w))
            if other_every and i % other_every == other_every - 1:
                hidden = tf.nn.dropout(hidden, 0.5, name=f"drop_{i}")
    return graph


def flat_graph(nodes):
    """Return nodes in a row, without a scope."""
    graph = tf.Graph()
    with graph.as_default():
        value = tf.constant(1.0)
        for i in range(nodes - 1):
            value = tf.negative(value) if i % 3 else tf.identity(value)
    return graph

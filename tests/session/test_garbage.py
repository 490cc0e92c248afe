"""A graph that nobody holds any more goes, with its session and all that was kept for it.

A program that tries many models makes a graph for each; so does every `train` of an estimator.
"""

import functools
import gc
import weakref

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.autograph.converting import converted
from tfdist.runtime.task.masters import local_masters

PROGRAMS = {}


def program(function):
    """List a program that builds in a graph, and may run there."""
    PROGRAMS[function.__name__.replace("_", " ")] = function
    return function


@program
def variables_in_a_store(graph):
    with tf.Session() as session:
        session.run(tf.get_variable("a", [2]).initializer)


@program
def a_session_that_is_not_closed(graph):
    tf.Session().run(tf.constant(1.0))


@program
def a_session_that_the_graph_leads_to(graph):
    graph.session = tf.Session()
    graph.session.run(tf.constant(1.0))


@program
def training(graph):
    output = tf.layers.dense(tf.placeholder(tf.float32, [None, 2], name="x"), 3)
    step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(output))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {"x:0": np.ones((3, 2))})


@program
def a_keras_model(graph):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)


@program
def a_class_of_layers_that_knows_the_graph(graph):
    class Mine(tf.keras.layers.Layer):
        def call(self, inputs):
            return inputs + len(graph.get_operations())

    tf.keras.Model(given := tf.keras.Input((2,)), Mine()(given))


@program
def a_function_that_autograph_converts(graph):
    limit = tf.constant(2, tf.int64)
    numbers = tf.data.Dataset.range(3).map(lambda x: x if x < limit else limit)
    tf.Session().run(numbers.make_one_shot_iterator().get_next())


@program
def a_function_that_autograph_leaves_alone(graph):
    limit = tf.constant(2, tf.int64)
    tf.data.Dataset.range(3).map(lambda x: x + limit).make_one_shot_iterator()


@program
def a_tensor_that_stays_in_a_session(graph):
    session = tf.Session()
    session.run(tf.get_session_handle(tf.constant(1.0))).eval()


@program
def a_python_function(graph):
    tf.Session().run(tf.py_func(lambda: graph.seed or np.float32(1), [], tf.float32))


@program
def branches_and_loops(graph):
    branch = tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
    tf.Session().run(tf.while_loop(lambda i: i < 3, lambda i: i + branch, [0]))


@program
def threads_that_fill_a_queue(graph):
    queue = tf.FIFOQueue(3, tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
    taken = queue.dequeue()
    with tf.train.MonitoredSession() as session:
        session.run(taken)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_goes(name):
    before = set(map(id, local_masters()))
    graph = tf.Graph()
    with graph.as_default():
        PROGRAMS[name](graph)
    tf.keras.backend.set_session(None)  # the last one is kept, as TensorFlow keeps it
    left = weakref.ref(graph)
    del graph
    gc.collect()
    assert left() is None
    assert not [each for each in local_masters() if each.is_open and id(each) not in before]


def test_a_wrapper_is_not_taken_for_what_it_wraps():
    """`functools.wraps` copies a function's attributes: what AutoGraph noted there, too."""

    def inner(x):
        return x if x > 0 else -x

    converted(inner)

    @functools.wraps(inner)
    def outer(x):
        return inner(x) + 1

    with tf.Session() as session:
        assert session.run(converted(outer)(tf.constant(-3))) == 4

"""Names of containers and resources: which ones a task takes, by TensorFlow 1.15.5."""

import pytest

import tfdist as tf
from tfdist import errors

ODD = ["_x", "x_", "a b", "-a", "/a", "ä", "a:b", "a;b", ">a", "a\\b", "_", "a,b", "*", "a\n"]
PLAIN = ["", "a-b", "a/b", ".a", "a.b", "A", "9", "x" * 300]


def variable():
    return tf.Variable(1.0).initializer


def queue():
    return tf.FIFOQueue(3, tf.float32).size()


def accumulator():
    return tf.ConditionalAccumulator(tf.float32).num_accumulated()


def shared_variable(name):
    variable = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, shared_name=name)
    return tf.raw_ops.IsVariableInitialized(ref=variable)


def shared_queue(name):
    return tf.FIFOQueue(3, tf.float32, shared_name=name).size()


@pytest.mark.parametrize("make", [variable, queue, accumulator])
def test_containers(make):
    for name in [*ODD, *PLAIN]:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            with graph.container(name):
                made = make()
            if name in PLAIN:
                session.run(made)
                continue
            with pytest.raises(errors.InvalidArgumentError) as info:
                session.run(made)
            assert info.value.message == f"container contains invalid characters: {name}"


@pytest.mark.parametrize("make", [shared_variable, shared_queue])
def test_shared_names(make):
    for name in [*ODD, *PLAIN]:
        with tf.Graph().as_default(), tf.Session() as session:
            made = make(name)
            if not name.startswith("_"):
                session.run(made)
                continue
            with pytest.raises(errors.InvalidArgumentError) as info:
                session.run(made)
            assert info.value.message == f"shared_name cannot start with '_':{name}"

"""A step over two tasks, for programs that the tests start."""

import tfdist as tf


def total(target, worker="/job:worker"):
    """Return what a worker adds to a variable of the parameter server's."""
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            one = tf.Variable(1.0)
        with tf.device(worker):
            result = one + 2.0
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            return session.run(result)

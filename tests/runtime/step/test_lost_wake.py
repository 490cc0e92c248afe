"""A signal just before the driver falls asleep does not wake it; it must look by itself."""

import threading

import pytest

import tfdist as tf


def test_an_error_without_a_wake_ends_the_step():
    with tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32)
        session.run(queue.size())
        master = session._connection.master
        failure = tf.errors.CancelledError("told to nobody")
        stopper = threading.Thread(target=set_error, args=(master, failure), daemon=True)
        stopper.start()
        with pytest.raises(tf.errors.CancelledError, match="told to nobody"):
            session.run(queue.dequeue())
        stopper.join()


def set_error(master, failure):
    """Set the error of the first step that waits, as a signal handler would, without waking it."""
    while not master.report().waits:
        pass
    [step] = [step for steps in master._active.values() for step in steps.values()]
    step.error = failure

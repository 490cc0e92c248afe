"""%placement optimize, on a cluster in this process."""

import pytest

PROGRAM = """
import time
import numpy as np
import tfdist as tf

def slow(x):
    time.sleep(0.02)
    return x

tf.reset_default_graph()
with tf.device("/job:ps/task:0"):
    v = tf.Variable(tf.ones([4]), name="v")
a = tf.py_func(slow, [v], tf.float32, name="a")
b = tf.py_func(slow, [v], tf.float32, name="b")
total = tf.add(a, b, name="total")
with tf.device("/job:worker/task:1"):
    small = tf.add(v, 1.0, name="small")
sess = tf.Session(cluster.target("worker", 0))
sess.run(tf.global_variables_initializer())
"""


@pytest.fixture
def slow_pair(on_cluster):
    """Yield a notebook with two slow nodes that could run beside each other."""
    on_cluster.run(PROGRAM)
    yield on_cluster
    on_cluster.run("sess.close()")


def test_what_can_run_side_by_side_is_moved_apart(slow_pair):
    table, verdict = slow_pair.run("%placement optimize total --runs 5 -o found")
    assert "is predicted to save" in table["text/plain"]
    assert "times as fast" in verdict["text/plain"]
    devices = slow_pair.value("found").devices()
    assert devices["a"] != devices["b"]
    assert devices["v"].startswith("/job:ps/")  # pinned, and a variable


def test_without_runs_nothing_is_run(slow_pair):
    slow_pair.run("for _ in range(8): sess.run(total)")
    asked = "%placement optimize total --runs 0 -o found"
    shown = slow_pair.run(f"with sess.as_default():\n    {asked}")
    assert "should take, by what units took so far, " in shown[0]["text/plain"]
    assert len(shown) == 1


def test_the_session_found_gives_the_same_values(slow_pair):
    slow_pair.run("%placement optimize total --runs 5 -o found -q")
    slow_pair.run("with found.session() as other: value = other.run(total)")
    assert slow_pair.value("value").tolist() == [2, 2, 2, 2]


def test_the_device_function_places_a_graph_built_anew(slow_pair):
    slow_pair.run("%placement optimize total --runs 5 -o found -q")
    slow_pair.run("""
with tf.Graph().as_default() as again, tf.device(found.device_function()):
    a2 = tf.constant(1.0, name="a")
    other = tf.constant(1.0, name="unknown")
""")
    found = slow_pair.value("found")
    assert slow_pair.value("a2").device == found.devices()["a"]
    assert slow_pair.value("other").device == ""


def test_what_gains_nothing_stays(slow_pair):
    assert "Nothing is to be moved" in slow_pair.text("%placement optimize small --runs 3")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("optimize", "say what is to be fetched"),
        ("optimize total --traced", "without options"),
    ],
)
def test_errors(slow_pair, line, message):
    with pytest.raises(Exception, match=message):
        slow_pair.run(f"%placement {line}")

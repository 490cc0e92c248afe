"""Generated files: what a traceback shows of them, and when they go."""

import gc
import linecache

import tfdist as tf


def segments():
    return {file for file in linecache.cache if file.startswith("<tfdist segment")}


def run_one():
    """Run a graph of its own, and return the files that were generated for it."""
    before = segments()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        y = tf.exp(x) * x
        for _ in range(10):  # what ran a few times is compiled
            session.run(y, {x: 1.0})
        return segments() - before


def test_a_file_outlives_its_functions_until_the_next_one_is_made():
    """`linecache.checkcache`, which tracebacks call, fails if an entry goes while it walks."""
    files = run_one()
    gc.collect()
    assert files
    assert files <= segments()
    run_one()
    assert not files & segments()

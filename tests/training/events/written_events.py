"""A program that writes an event file, and the file that 1.15.5 wrote when it ran there.

Runs on real TensorFlow's own Python, by its path, and imports nothing of ours. To store its file:

    python -m tests.training.events.written_events "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
STORED = os.path.join(HERE, "events_1_15")


def write(tf, folder):
    """Write an event file with all kinds of events that a FileWriter has methods for."""
    with tf.Graph().as_default() as graph:
        with tf.name_scope("inputs"):
            x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable([[0.5], [0.25], [-1.0]], name="w")
        loss = tf.reduce_mean(tf.matmul(x, w), name="mean")
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("weights", w)
        tf.summary.text("note", tf.constant("*all* is well"))
        tf.summary.audio("beep", tf.sin(tf.reshape(x, [1, -1])), 8000.0)
        tf.summary.image("picture", tf.reshape(x, [1, 1, -1, 1]))
        merged = tf.summary.merge_all()
        with tf.Session() as session:
            writer = tf.summary.FileWriter(folder, session.graph, filename_suffix=".stored")
            session.run(tf.global_variables_initializer())
            for step in range(3):
                fed = np.arange(6, dtype=np.float32).reshape(2, 3) + step
                writer.add_summary(session.run(merged, {x: fed}), step)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path="p"), 3)
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="mean")
    writer.add_run_metadata(metadata, "step 2", 2)
    value = tf.Summary.Value(tag="by hand", simple_value=1.5)
    writer.add_summary(tf.Summary(value=[value]))
    writer.add_event(tf.Event(wall_time=12.5, step=9, summary=tf.Summary(value=[value])))
    writer.add_graph(graph.as_graph_def(), 4)
    writer.close()


def main():
    """Write to standard output what this Python's TensorFlow writes to a file."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)
    folder = tempfile.mkdtemp()
    write(tf, folder)
    [name] = os.listdir(folder)
    with open(os.path.join(folder, name), "rb") as file:
        sys.stdout.buffer.write(file.read())
    shutil.rmtree(folder)


def store(command):
    """Write the stored file."""
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    with open(STORED, "wb") as file:
        subprocess.run(script, stdout=file, check=True)


if __name__ == "__main__":
    store(sys.argv[1]) if len(sys.argv) > 1 else main()

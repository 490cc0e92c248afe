"""Buckets that real TensorFlow and ours make: their nodes, and what runs them.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/input_queues && PYTHON_OF_1.15 bucket_programs.py > expected_buckets_1_15.json
"""

import json
import sys

# Expressions; `a`, `i`, `b` are placeholders of floats [2], integers [] and bools [].
LINES = [
    "T.bucket([i, a], i, 3, 2)",
    "T.bucket({'x': a}, i, [3, 4], 2, 2, allow_smaller_final_batch=True, keep_input=b,"
    " bucket_capacities=[5, 6], shared_name='s', name='mine')",
    "T.bucket_by_sequence_length(i, [a], 3, [2, 4], dynamic_pad=True)",
]


def outcome(tf, line):
    """Return nodes as text, and the runners."""
    with tf.Graph().as_default() as graph:
        names = {
            "T": tf.contrib.training, "i": tf.placeholder(tf.int32, []),
            "a": tf.placeholder(tf.float32, [2]), "b": tf.placeholder(tf.bool, []),
        }  # fmt: skip
        eval(line, names)
        nodes = sorted(node_text(node) for node in graph.as_graph_def().node)
        runners = [each.to_proto() for each in graph.get_collection("queue_runners")]
        return [nodes, [" ".join(str(each).split()) for each in runners]]


def node_text(node):
    return "{} = {}({})".format(node.name, node.op, ", ".join(sorted(node.input)))


if __name__ == "__main__":
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.FATAL)
    json.dump({line: outcome(tensorflow, line) for line in LINES}, sys.stdout, indent=0)

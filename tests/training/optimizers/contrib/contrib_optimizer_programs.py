"""Programs with optimizers of tf.contrib.opt: a line makes one, for `tf` and `opt` of either side.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/training/optimizers/contrib
    PYTHON_OF_1.15 contrib_optimizer_programs.py > expected_contrib_1_15.json
"""

import json
import re
import sys

# The inner optimizers that wrappers are given.
SGD = "tf.train.GradientDescentOptimizer(0.1)"

OPTIMIZERS = [
    "AdaMaxOptimizer(0.1)",
    "AdaMaxOptimizer(lambda: 0.1, 0.8, 0.9, 1e-3, True, 'M')",
    "NadamOptimizer(0.1)",
    "NadamOptimizer(0.1, use_locking=True)",
    "LazyAdamOptimizer(0.1)",
    "AddSignOptimizer(0.1)",
    "AddSignOptimizer(0.1, 0.5, 0.8, lambda step: tf.cast(step, tf.float32) * 0.5)",
    "PowerSignOptimizer(0.1)",
    "PowerSignOptimizer(0.1, 2.0, 0.8, lambda step: tf.cast(step, tf.float32) * 0.5)",
    "LARSOptimizer(0.1)",
    "LARSOptimizer(0.1, weight_decay=0.1, epsilon=0.01, skip_list=['v'], use_nesterov=True)",
    "AdamWOptimizer(0.01, 0.1)",
    "AdamWOptimizer(weight_decay=0.01, learning_rate=0.1, name='W')",
    "MomentumWOptimizer(0.01, 0.1, 0.9, use_nesterov=True)",
    "extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(0.01, learning_rate=0.1)",
    f"VariableClippingOptimizer({SGD}, {{v: [1]}}, 2.0)",
    f"VariableClippingOptimizer({SGD}, {{w: [0]}}, 1.0, True, True)",
    f"MovingAverageOptimizer({SGD})",
    "MovingAverageOptimizer(tf.train.AdamOptimizer(0.1), 0.5, sequential_update=False)",
    f"MovingAverageOptimizer({SGD}, 0.5, num_updates=step)",
    "AdamGSOptimizer(step, 0.1)",
    "LazyAdamGSOptimizer(step, 0.1)",
    "RegAdagradOptimizer(0.1)",
    "RegAdagradOptimizer(0.1, 0.5, name='R')",
    f"DropStaleGradientOptimizer({SGD}, 2)",
    "DropStaleGradientOptimizer(tf.train.AdamOptimizer(0.1), 0, True, 'Drop')",
    "GGTOptimizer(0.1, svd_eps=1.0)",
    "GGTOptimizer(lambda: 0.1, 0.5, name='G', window=2, svd_eps=1.0, sigma_eps=0.1)",
    "GGTOptimizer(0.1, eps=1e3, svd_eps=1.0, window=4)",
]


def program(tf, line, use_resource):
    """Return the optimizer and the training operation of a small model."""
    opt = tf.contrib.opt

    with tf.variable_scope("net", use_resource=use_resource):
        w = tf.get_variable("w", initializer=tf.constant([[0.5, -1.0, 2.0], [0.0, 3.0, -0.25]]))
        v = tf.get_variable("v", initializer=tf.constant([[1.0, -2.0]] * 2 + [[0.5, 4.0]] * 3))
    step = tf.train.get_or_create_global_step()
    dense = "GGT" in line or "Sign" in line or "LARS" in line or "Decoupled" in line
    names = {"tf": tf, "step": step, "w": w, "v": v}
    optimizer = eval("opt." + line, {**names, "opt": opt})
    rows = tf.gather(v, [3, 1, 3]) if not dense else tf.square(v[:3])
    scale = tf.constant([[1.0, 2.0], [3.0, 1.0], [-2.0, 0.5]])
    loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(tf.square(rows) * scale)
    return optimizer, optimizer.minimize(loss, step)


# What reads a variable while another node of the step changes it: TensorFlow's values differ from
# run to run.
RACES = "W|Decoupled|decoupled|sequential_update=False"
# What is told of nodes that have other names here: guards of initial values, norms, switches.
LEFT_OUT = re.compile(
    r"^gradients/|ExponentialMovingAverage/(Assign|Is|cond)|^cond[^ ]*/([rR]ead|Merge_)|norm|Switch"
    r"|^(IsVariable|cond(_1)?/(Merge|pred_id|switch|Identity|IsInit))|Select|Greater|truediv|mul|clip_net/v/ReadVariableOp"
    r"|/eye/|^zeros/Less|/cond/Merge"
)


def outcome(tf, line, use_resource):
    """Return what a line makes: nodes as text, and the variables after three steps."""
    with tf.Graph().as_default() as graph:
        _, step = program(tf, line, use_resource)
        nodes = sorted(
            text for text in map(node_text, graph.as_graph_def().node) if not LEFT_OUT.search(text)
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step)
            names = [each.name for each in tf.global_variables()]
            values = None
            if not re.search(RACES, line):
                values = [session.run(each).tolist() for each in tf.global_variables()]
    return {"nodes": nodes, "names": names, "values": values}


def node_text(node):
    inputs = sorted("gradient" if "gradients/" in each else each for each in node.input)
    return "{} = {}({})".format(node.name, node.op, ", ".join(inputs))


def main():
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    rows = [
        json.dumps(f"{line} {use_resource}") + ": " + json.dumps(outcome(tf, line, use_resource))
        for line in OPTIMIZERS
        for use_resource in (False, True)
    ]
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()

"""A program with objects of many kinds, which `tf.train.Checkpoint` writes: for either TensorFlow.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 writes:

    cd tests/training/saving && PYTHON_OF_1.15 checkpoint_programs.py object_checkpoint_1_15
"""

import sys


def objects(tf):
    """Return a Checkpoint, and a step of training that makes the optimizers' slots."""
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    layer = tf.layers.Dense(2, name="fc", kernel_initializer=tf.ones_initializer())
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)])
    ones = tf.ones([1, 2])
    cell(ones, cell.zero_state(1, tf.float32))
    adam, momentum = tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9)
    loss = tf.reduce_sum(v * v + w * w) + tf.reduce_sum(layer(ones))
    step = tf.train.get_or_create_global_step()
    train = [adam.minimize(loss, step), momentum.minimize(loss, var_list=[v])]
    inner = tf.train.Checkpoint(v=v)
    checkpoint = tf.train.Checkpoint(
        inner=inner, layer=layer, optimizer=adam, other=momentum, step=step
    )
    checkpoint.listed = [v, w]
    checkpoint.by_name = {"a/b": w, "c.d": [v]}
    checkpoint.cell, checkpoint.none = cell, []
    return checkpoint, train


def values(tf, session):
    """Return the values of all variables by name, without those of cells, which are random."""
    return {
        v.op.name: session.run(v).tolist() for v in tf.global_variables() if "cell" not in v.name
    }


def main():
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    checkpoint, train = objects(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for each in train:
            session.run(each)
        print(checkpoint.save(sys.argv[1] + "/model"))


if __name__ == "__main__":
    main()

"""One program for all tasks of a training: TF_CONFIG says which one this is.

    tfdist run tests/estimators/between_graph.py FOLDER STEPS

It also runs on real TensorFlow 1.15.5's own Python, by its path.
"""

import os
import sys

import numpy as np
import tensorflow as tf

FOLDER, STEPS = sys.argv[1], int(sys.argv[2])

tf.logging.set_verbosity(tf.logging.INFO)


def rows():
    """Return batches of points and their sums."""
    x = np.random.RandomState(0).rand(64, 3).astype(np.float32)
    points = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True)))
    return points.repeat().batch(8)


def model(features, labels, mode, params):
    """Return a network of one hidden layer."""
    hidden = tf.layers.dense(features["x"], 4, tf.nn.relu, name="hidden")
    guess = tf.layers.dense(hidden, 1, name="guess")
    loss = tf.losses.mean_squared_error(labels, guess)
    step = tf.train.get_global_step()
    train = tf.train.AdamOptimizer(params["rate"]).minimize(loss, step)
    metrics = {"error": tf.metrics.mean_absolute_error(labels, guess)}
    return tf.estimator.EstimatorSpec(mode, guess, loss, train, metrics)


def main():
    """Do what this task is there for, and tell of it."""
    config = tf.estimator.RunConfig(
        FOLDER, tf_random_seed=1, save_checkpoints_steps=20, experimental_max_worker_delay_secs=0
    )
    made = tf.estimator.Estimator(model, config=config, params={"rate": 0.05})
    trained = tf.estimator.TrainSpec(rows, max_steps=STEPS)
    evaluated = tf.estimator.EvalSpec(rows, steps=4, start_delay_secs=0, throttle_secs=0)
    tf.estimator.train_and_evaluate(made, trained, evaluated)
    print(config.task_type, config.task_id, "has ended")
    sys.stdout.flush()
    if "tfdist" not in sys.modules:
        os._exit(0)  # servers of TensorFlow do not stop


main()

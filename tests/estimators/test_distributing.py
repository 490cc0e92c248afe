"""Estimators with distribution strategies; the numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import tfdist as tf


def model(features, labels, mode):
    """Return the spec of a model with a regularizer, a normalization and clipped gradients."""
    ones = tf.ones_initializer()
    hidden = tf.layers.dense(
        features, 3, kernel_initializer=ones,
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1),
    )  # fmt: skip
    hidden = tf.layers.batch_normalization(hidden, training=mode == "train", momentum=0.9)
    guess = tf.layers.dense(hidden, 1, kernel_initializer=ones)
    loss = tf.losses.mean_squared_error(labels, guess) + tf.losses.get_regularization_loss()
    if mode == "eval":
        mean = tf.metrics.mean(guess)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mean": mean})
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer = tf.train.AdamOptimizer(0.01)
        pairs = [(tf.clip_by_norm(g, 5.0), v) for g, v in optimizer.compute_gradients(loss)]
        train = optimizer.apply_gradients(pairs, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def rows():
    """Return six batches."""
    x = np.arange(44, dtype=np.float32).reshape(22, 2) / 44
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(4)


def made(folder, strategy):
    """Return an estimator."""
    config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)
    return tf.estimator.Estimator(model, str(folder), config)


PAIR = {
    "dense/kernel/Adam": 0.09507, "dense/kernel": 0.97014,
    "batch_normalization/gamma/Adam": 1.31811, "batch_normalization/beta": 0.02841,
    "batch_normalization/moving_variance": 0.73134, "dense_1/kernel": 0.97013,
}  # fmt: skip


def test_replicas_train_together(tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")
    estimator = made(tmp_path, tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])).train(rows)
    for name, wanted in PAIR.items():
        assert np.allclose(estimator.get_variable_value(name), wanted, atol=2e-5), name

    assert "Loss for final step: 9.2614" in caplog.text
    assert not [name for name in estimator.get_variable_names() if "replica" in name]
    results = estimator.evaluate(rows)
    assert results["global_step"] == 3
    with_one = made(tmp_path, None).evaluate(rows)
    assert np.isclose(results["mean"], with_one["mean"], atol=1e-4)


@pytest.mark.parametrize("make", [
    lambda: tf.distribute.MirroredStrategy(),
    lambda: tf.contrib.distribute.OneDeviceStrategy("/cpu:0"),
    lambda: tf.distribute.experimental.ParameterServerStrategy(),
    lambda: tf.contrib.distribute.CollectiveAllReduceStrategy(),
    lambda: tf.distribute.experimental.CentralStorageStrategy(),
])  # fmt: skip
def test_one_replica_trains_as_without_a_strategy(tmp_path, make):
    one, plain = made(tmp_path / "one", make()).train(rows), made(tmp_path / "plain", None)
    plain.train(rows)
    for name in plain.get_variable_names():
        found = one.get_variable_value(name), plain.get_variable_value(name)
        assert np.allclose(*found, atol=1e-5) or name == "dense/bias", name


def test_both_strategies_stand_in_one_config():
    train, evaluate = tf.distribute.MirroredStrategy(), tf.distribute.MirroredStrategy()
    both = tf.contrib.distribute.DistributeConfig(train, evaluate)
    config = tf.estimator.RunConfig(experimental_distribute=both)
    assert (config.train_distribute, config.eval_distribute) == (train, evaluate)
    assert config.replace(save_checkpoints_steps=3).train_distribute is train


def test_an_input_function_can_ask_for_its_part(tmp_path):
    asked = []

    def part(input_context):
        asked.append(input_context)
        return rows()

    made(tmp_path, tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])).train(part, steps=1)
    assert [(each.num_input_pipelines, each.num_replicas_in_sync) for each in asked] == [(1, 2)]

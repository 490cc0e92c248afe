"""The first spellings: an Experiment, fit and predict; the columns of tf.contrib.layers."""

import numpy as np
import pytest

import tfdist as tf

X = np.array([[1.0], [2.0], [3.0]], np.float32)
Y = 2 * X


def model(features, labels, mode, params):
    guess = tf.layers.dense(features, 1, name="guess")
    if mode == tf.contrib.learn.ModeKeys.INFER:
        return tf.contrib.learn.ModelFnOps(mode, {"guess": guess})
    loss = tf.losses.mean_squared_error(labels, guess)
    step = tf.contrib.framework.get_global_step()
    train = tf.contrib.layers.optimize_loss(loss, step, params["rate"], "SGD")
    return tf.contrib.learn.ModelFnOps(mode, {"guess": guess}, loss, train)


def rows():
    return tf.constant(X), tf.constant(Y)


def experiment(run_config, hparams):
    made = tf.contrib.learn.Estimator(model, config=run_config, params={"rate": 0.05})
    return tf.contrib.learn.Experiment(made, rows, rows, train_steps=hparams, eval_steps=1)


def test_an_experiment_trains_and_evaluates(tmp_path):
    config = tf.contrib.learn.RunConfig(model_dir=str(tmp_path))
    metrics, _ = tf.contrib.learn.learn_runner.run(experiment, run_config=config, hparams=8)
    assert metrics["global_step"] == 8


def test_an_unknown_schedule_is_told_with_those_there_are(tmp_path):
    config = tf.contrib.learn.RunConfig(model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="train_and_evaluate"):
        tf.contrib.learn.learn_runner.run(
            experiment, schedule="tarin", run_config=config, hparams=1
        )


def test_fit_and_predict_take_arrays(tmp_path):
    made = tf.contrib.learn.Estimator(model, str(tmp_path), params={"rate": 0.05})
    made.fit(X, Y, steps=300)
    assert made.evaluate(X, Y)["loss"] < 0.1
    found = [each["guess"][0] for each in made.predict(X)]
    np.testing.assert_allclose(found, Y[:, 0], atol=0.5)


def test_columns_have_their_first_names():
    layers = tf.contrib.layers
    word = layers.sparse_column_with_hash_bucket("s", 5)
    columns = [layers.real_valued_column("a"), layers.embedding_column(word, 3)]
    features = {"a": [[1.0], [2.0]], "s": [["x"], ["y"]]}
    made = layers.input_from_feature_columns(features, columns)
    sums, weights, _ = layers.weighted_sum_from_feature_columns(features, [word], 2)
    assert (made.shape, sums.shape, weights.keys()) == ((2, 4), (2, 2), {word})
    assert [variable.name for variable in tf.global_variables()] == [
        "input_from_feature_columns/s_embedding/weights:0",
        "weighted_sum_from_feature_columns/s/weights:0",
        "weighted_sum_from_feature_columns/bias_weight:0",
    ]

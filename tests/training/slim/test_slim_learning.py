"""tf.contrib.slim's training and evaluation, and HParams, as TensorFlow 1.15.5 has them."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

import tfdist as tf

slim, training = tf.contrib.slim, tf.contrib.training


def model(**options):
    """Return a train op that halves a variable which begins with 8."""
    w = tf.get_variable("w", initializer=8.0)
    return slim.learning.create_train_op(w * w, tf.train.GradientDescentOptimizer(0.25), **options)


def test_a_training_stops_saves_and_goes_on(tmp_path):
    for steps, wanted in ((2, 2.0), (3, 1.0)):
        with tf.Graph().as_default():
            slim.learning.train(model(), str(tmp_path), number_of_steps=steps)
        assert tf.train.load_variable(str(tmp_path), "w") == wanted
    assert os.path.basename(tf.train.latest_checkpoint(str(tmp_path))) == "model.ckpt-3"


def test_a_traced_training_writes_timelines(tmp_path):
    slim.learning.train(model(), str(tmp_path), number_of_steps=1, trace_every_n_steps=1)
    assert (tmp_path / "tf_trace-1.json").exists()


def test_a_step_function_gets_what_it_was_given(tmp_path):
    seen = []

    def step(session, train_op, global_step, kwargs):
        seen.append(sorted(kwargs))
        return session.run(train_op), len(seen) == 2

    slim.learning.train(model(), str(tmp_path), step, {"mine": 1})
    assert seen == [["mine", "summary_writer"]] * 2


def test_replicas_in_step_end_with_their_chief(tmp_path):
    w = tf.get_variable("w", initializer=8.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
    train_op = slim.learning.create_train_op(w * w, optimizer)
    slim.learning.train(train_op, str(tmp_path), number_of_steps=3, sync_optimizer=optimizer)
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"train_op": None}, "train_op cannot be None"),
        ({"number_of_steps": 0}, "must be either None or a positive number"),
        ({"trace_every_n_steps": 1}, "Cannot provide trace_every_n_steps because logdir=None"),
        ({"saver": 1}, "Cannot provide saver because logdir=None"),
    ],
)
def test_what_cannot_be_trained_is_told(options, words):
    with pytest.raises(ValueError, match=words):
        slim.learning.train(**{"train_op": model(), "logdir": None, **options})


def test_gradients_are_multiplied_then_clipped_and_updates_run_before():
    n = tf.get_variable("n", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(n, 1.0))
    step = model(gradient_multipliers={"w": 0.5}, clip_gradient_norm=4.0, summarize_gradients=True)
    assert step.name == "train_op/control_dependency:0"
    names = [each.op.name for each in tf.get_collection("summaries")]
    assert names == ["summarize_grads/w_gradient", "summarize_grads/w_gradient_norm"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        values = session.run([*tf.trainable_variables(), n, tf.train.get_global_step()])
    assert values == [7.0, 1.0, 1]


def test_checkpoints_are_evaluated(tmp_path):
    slim.learning.train(model(), str(tmp_path), number_of_steps=2)
    with tf.Graph().as_default():
        mean, update = tf.metrics.mean(tf.get_variable("w", initializer=0.0))
        runs = training.get_or_create_eval_step()
        final = training.evaluate_repeatedly(
            str(tmp_path), eval_ops={"update": update}, final_ops=[mean, runs],
            hooks=[training.StopAfterNEvalsHook(3)], max_number_of_evaluations=1,
        )  # fmt: skip
        assert final == [2.0, 3]
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=0.0)
        tf.summary.scalar("w", w)
        restored = [w, tf.train.get_or_create_global_step()]
        path, logs = tf.train.latest_checkpoint(str(tmp_path)), str(tmp_path / "eval")
        found = slim.evaluation.evaluate_once(
            "", path, logs, num_evals=2, eval_op=w.op, final_op=w, variables_to_restore=restored
        )
    assert found == np.float32(2.0)
    tf.summary.FileWriterCache.clear()
    (events,) = os.listdir(logs)
    tags = [v.tag for e in tf.train.summary_iterator(f"{logs}/{events}") for v in e.summary.value]
    assert tags == ["w_1"]


HPARAMS = {"a": 1, "b": 2.5, "c": "x", "d": [1, 2], "e": True}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("a=5", {"a": 5}),
        ("a = 5 ", {"a": 5}),
        ("b=3", {"b": 3.0}),
        ("b=-.5,", {"b": -0.5}),
        ("c=y=z", {"c": "y=z"}),
        ("c=", {"c": ""}),
        ("d=[3,4,5],a=2", {"d": [3, 4, 5], "a": 2}),
        ("e=false", {"e": False}),
        ("e=0", {"e": False}),
        ("", {}),
        ("a=5.5", "Could not parse hparam 'a' of type 'int' with value '5.5' in a=5.5"),
        ("e=maybe", "Could not parse hparam 'e' of type 'bool' with value 'maybe' in e=maybe"),
        ("z=1", "Unknown hyperparameter type for z"),
        ("a", "Malformed hyperparameter value: a"),
        ("a=[1,2]", "Must not pass a list for single-valued parameter: a"),
        ("d=3", "Must pass a list for multi-valued parameter: d."),
        ("a=1,a=2", "Multiple assignments to variable 'a' in a=1,a=2"),
    ],
)
def test_hyperparameters_are_read_from_text(text, changed):
    hparams = training.HParams(**HPARAMS)
    if isinstance(changed, dict):
        assert hparams.parse(text).values() == {**HPARAMS, **changed}
        return
    with pytest.raises(ValueError, match=f"^{re.escape(changed)}$"):
        hparams.parse(text)


def test_hyperparameters_keep_their_types():
    hparams = training.HParams(a=1, f=0.5)
    hparams.set_hparam("f", 2)
    assert (hparams.f, type(hparams.f)) == (2.0, float)
    for wrong, words in (
        (lambda: hparams.set_hparam("a", 2.5), "Could not cast hparam 'a'"),
        (lambda: hparams.get("a", "x"), "is incompatible with default=x"),
        (lambda: hparams.add_hparam("values", 1), "reserved: values"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
    hparams.del_hparam("f")
    assert ("f" in hparams, hparams.get("f", 3), hparams.to_json()) == (False, 3, '{"a": 1}')

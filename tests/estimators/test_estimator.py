"""Estimators train, evaluate, predict and export; what they refuse; hooks and folders."""

import os

import numpy as np
import pytest

import tfdist as tf

X = np.arange(8, dtype=np.float32).reshape(4, 2)


def rows():
    features = {"x": X}, X.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(features).repeat(5).batch(2)


def model(features, labels, mode, params):
    guess = tf.layers.dense(features["x"], 1, name="guess")
    predictions = {"guess": guess, "twice": guess * 2}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    loss = tf.losses.mean_squared_error(labels, guess)
    step = tf.train.get_global_step()
    train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train)


@pytest.fixture
def made(tmp_path):
    config = tf.estimator.RunConfig(str(tmp_path), tf_random_seed=3, save_checkpoints_steps=3)
    return tf.estimator.Estimator(model, config=config, params={"rate": 0.01})


def test_training_goes_on_from_the_last_checkpoint(made):
    made.train(rows, steps=2).train(rows, steps=3)
    assert int(made.get_variable_value("global_step")) == 5
    made.train(rows, max_steps=4)  # which is over
    assert made.latest_checkpoint().endswith("model.ckpt-5")
    assert made.get_variable_names() == ["global_step", "guess/bias", "guess/kernel"]


def test_training_ends_with_the_data(made):
    made.train(rows)
    assert int(made.get_variable_value("global_step")) == 10


def test_an_evaluation_is_told_and_written(made, tmp_path):
    made.train(rows, steps=2)
    metrics = made.evaluate(rows, steps=2, name="q")
    assert sorted(metrics) == ["global_step", "loss"]
    tf.summary.FileWriterCache.clear()
    [path] = (tmp_path / "eval_q").iterdir()
    events = list(tf.train.summary_iterator(str(path)))
    tags = {v.tag: v for event in events for v in event.summary.value}
    assert tags["loss"].simple_value == pytest.approx(metrics["loss"])
    assert tags["checkpoint_path"].tensor.string_val[0].endswith(b"model.ckpt-2")


def test_new_variables_are_evaluated_where_nothing_was_trained(made):
    assert made.evaluate(rows)["global_step"] == 0


def test_predictions_come_one_by_one_or_in_batches(made):
    found = list(made.predict(rows, predict_keys="guess"))
    assert (len(found), found[0].keys(), found[0]["guess"].shape) == (20, {"guess"}, (1,))
    batches = list(made.predict(rows, yield_single_examples=False))
    assert (len(batches), batches[0]["twice"].shape) == (10, (2, 1))


def test_between_two_predictions_the_graph_is_the_callers(made, graph):
    found = made.predict(rows)
    next(found)
    assert tf.get_default_graph() is graph
    found.close()


def test_listeners_and_hooks_are_called(made):
    calls = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            calls.append(("saved", global_step_value))

    class Hook(tf.train.SessionRunHook):
        def end(self, session):
            calls.append("end")

    made.train(rows, [Hook()], steps=4, saving_listeners=[Listener()])
    assert [each for each in calls if each != "end"] == [("saved", 0), ("saved", 3), ("saved", 4)]
    assert "end" in calls


def test_a_model_begins_with_what_another_has_learned(made, tmp_path):
    made.train(rows, steps=2)
    settings = tf.estimator.WarmStartSettings(str(tmp_path), ".*kernel")
    frozen = tf.estimator.Estimator(
        model, str(tmp_path / "new"), params={"rate": 0.0}, warm_start_from=settings
    )
    frozen.train(rows, steps=1)
    kernels = [each.get_variable_value("guess/kernel") for each in (made, frozen)]
    np.testing.assert_array_equal(*kernels)


def test_a_saved_model_serves_what_was_learned(made, tmp_path):
    made.train(rows, steps=1)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    path = made.export_savedmodel(str(tmp_path / "export"), receiver).decode()
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], path)
        signature = loaded.signature_def["serving_default"]
        output = signature.outputs["guess"].name
        served = session.run(output, {signature.inputs["x"].name: X[:1]})
    np.testing.assert_array_equal(served[0], next(made.predict(rows))["guess"])


def test_the_best_model_is_exported(made, tmp_path):
    made.train(rows, steps=1)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    best = tf.estimator.BestExporter(serving_input_receiver_fn=receiver, exports_to_keep=1)
    folder, path = str(tmp_path / "best"), made.latest_checkpoint()
    exported = [
        best.export(made, folder, path, {"loss": loss}, False) is not None for loss in (3, 4, 2)
    ]
    assert (exported, len(os.listdir(folder))) == ([True, False, True], 1)


def test_training_and_evaluation_take_turns(made):
    calls = []

    class Told(tf.estimator.Exporter):
        name = "told"

        def export(self, estimator, export_path, checkpoint_path, eval_result, **how):
            calls.append((int(eval_result["global_step"]), how["is_the_final_export"]))
            return os.path.relpath(export_path, estimator.model_dir)

    trained = tf.estimator.TrainSpec(rows, max_steps=7)
    evaluated = tf.estimator.EvalSpec(rows, 2, throttle_secs=0, exporters=Told())
    metrics, exports = tf.estimator.train_and_evaluate(made, trained, evaluated)
    assert calls == [(3, False), (6, False), (7, True)]
    assert (int(metrics["global_step"]), exports) == (7, [os.path.join("export", "told")])


# Name -> function of an estimator that raises, the class, and a part of what is said.
REFUSED = {
    "two ends": (lambda e: e.train(rows, steps=1, max_steps=2), ValueError, "both steps and max"),
    "no steps": (lambda e: e.train(rows, steps=0), ValueError, "Must specify steps > 0"),
    "no hook": (lambda e: e.train(rows, hooks=[3]), TypeError, "SessionRunHook, given: 3"),
    "no listener": (lambda e: e.train(rows, saving_listeners=[3]), TypeError, "saving_listeners"),
    "three things": (lambda e: e.train(lambda: (1, 2, 3)), ValueError, "len 2 tuple"),
    "no such prediction": (lambda e: list(e.predict(rows, "w")), ValueError, "provided w"),
    "nothing trained": (lambda e: e.get_variable_names(), ValueError, "Could not find trained"),
    "an unknown argument": (
        lambda e: tf.estimator.Estimator(lambda features, foo: 1, e.model_dir), ValueError, "foo",
    ),
    "no features": (
        lambda e: tf.estimator.Estimator(lambda labels: 1, e.model_dir), ValueError, "features",
    ),
    "unwanted parameters": (
        lambda e: tf.estimator.Estimator(lambda features: 1, e.model_dir, params={}), ValueError,
        "does not include params",
    ),
    "two folders": (
        lambda e: tf.estimator.Estimator(model, "elsewhere", e.config), ValueError, "different",
    ),
    "a changed method": (
        lambda e: type("Own", (tf.estimator.Estimator,), {"train": 1})(model), ValueError, "train",
    ),
    "no spec": (
        lambda e: tf.estimator.Estimator(lambda features, labels: 3, e.model_dir).train(rows),
        ValueError, "should return an EstimatorSpec",
    ),
    "unwanted labels": (
        lambda e: tf.estimator.Estimator(lambda features: 3, e.model_dir).train(rows),
        ValueError, "does not take labels",
    ),
    "two strategies": (
        lambda e: e.config.replace(
            train_distribute=tf.distribute.OneDeviceStrategy("/cpu:0"),
            experimental_distribute=tf.contrib.distribute.DistributeConfig(
                tf.distribute.OneDeviceStrategy("/cpu:0")
            ),
        ),
        ValueError, "can be set",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_told(made, name):
    do, kind, said = REFUSED[name]
    with pytest.raises(kind, match=said):
        do(made)


def spec(**fields):
    return tf.estimator.EstimatorSpec("train", **fields)


# Name -> function of a loss that raises, the class, and a part of what is said.
SPECS = {
    "no training": (lambda loss: spec(loss=loss), ValueError, "Missing train_op"),
    "no loss": (lambda loss: spec(train_op=loss), ValueError, "Missing loss"),
    "a number": (lambda loss: spec(loss=1.0, train_op=loss), TypeError, "loss must be Tensor"),
    "a vector": (
        lambda loss: spec(loss=tf.constant([1.0, 2.0]), train_op=loss), ValueError, "scalar",
    ),
    "another graph": (
        lambda loss: spec(loss=elsewhere(), train_op=loss), ValueError, "from the default graph",
    ),
    "half a metric": (
        lambda loss: spec(loss=loss, train_op=loss, eval_metric_ops={"a": (loss,)}), TypeError,
        "tuples",
    ),
    "two outputs": (
        lambda loss: spec(
            loss=loss, train_op=loss,
            export_outputs=dict.fromkeys("ab", tf.estimator.export.PredictOutput(loss)),
        ), ValueError, "none of them is specified as the default",
    ),
}  # fmt: skip


def elsewhere():
    with tf.Graph().as_default():
        return tf.constant(1.0)


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_checked(name):
    make, kind, said = SPECS[name]
    with pytest.raises(kind, match=said):
        make(tf.constant(1.0))


def given(shuffle=False, **how):
    """Return what an input function of five rows gives."""
    features = {"x": np.arange(5), "y": np.arange(5.0) * 2}
    batch = tf.estimator.inputs.numpy_input_fn(features, np.arange(5), 2, shuffle=shuffle, **how)()
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop() and len(found) < 6:
            found.append(session.run(batch)[1].tolist())
    return found


def test_arrays_come_in_batches_that_go_on_across_epochs():
    assert given(num_epochs=2) == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]


def test_shuffled_arrays_come_once_an_epoch():
    assert sorted(row for batch in given(shuffle=True) for row in batch) == [0, 1, 2, 3, 4]


def test_arrays_without_end_go_on():
    assert len(given(num_epochs=None)) == 6


def test_training_ends_early_when_a_metric_is_beyond_its_threshold(made):
    made.evaluate(rows, steps=1)
    tf.summary.FileWriterCache.clear()
    hook = tf.estimator.experimental.stop_if_higher_hook(
        made, "loss", -1.0, run_every_secs=None, run_every_steps=2
    )
    made.train(rows, [hook], steps=7)
    assert int(made.get_variable_value("global_step")) < 4
    assert "signal_early_stopping/STOP" in made.get_variable_names()


# Losses of evaluations at steps 1, 2, ... -> whether three steps without a lower one are told.
STANDSTILLS = {(4.0, 3.0, 2.0, 1.0): False, (4.0, 3.0, 3.5, 3.5): False, (1.0, 2.0, 2.0, 2.0): True}


@pytest.mark.parametrize("losses", STANDSTILLS)
def test_a_standstill_is_seen_in_the_summaries(made, losses):
    with tf.summary.FileWriter(made.eval_dir()) as writer:
        for step, loss in enumerate(losses, 1):
            value = tf.Summary.Value(tag="loss", simple_value=loss)
            writer.add_summary(tf.Summary(value=[value]), step)
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(made, "loss", 3)
    assert hook._should_stop() == STANDSTILLS[losses]


@pytest.mark.parametrize(
    ("kind", "slots"),
    [
        pytest.param(
            lambda x: tf.estimator.DNNClassifier([2], [x]),
            ["dnn/logits/bias/t_0/Adagrad", "dnn/logits/kernel/t_0/Adagrad"], id="a network",
        ),
        pytest.param(
            lambda x: tf.estimator.LinearRegressor([x], optimizer="Adagrad"),
            ["linear/linear_model/bias_weights/part_0/Adagrad",
             "linear/linear_model/x/weights/part_0/Adagrad"],
            id="a linear model",
        ),
    ],
)  # fmt: skip
def test_the_slots_of_canned_models_have_tensorflows_names(kind, slots):
    """Those of checkpoints, so that one continues what the other has begun."""
    model = kind(tf.feature_column.numeric_column("x"))
    model.train(lambda: tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1])), steps=1)
    found = [name for name in model.get_variable_names() if name.endswith("Adagrad")]
    assert [name for name in sorted(found) if "hidden" not in name] == slots


def test_the_global_step_of_training_has_tensorflows_nodes_before_the_models(tmp_path):
    """The seeds of the model's random ops count them."""
    names = []

    def model_fn(features, mode):
        names.extend(op.name for op in tf.get_default_graph().get_operations())
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(mode, loss=tf.zeros([]), train_op=tf.assign_add(step, 1))

    features = tf.data.Dataset.from_tensors
    tf.estimator.Estimator(model_fn, str(tmp_path)).train(lambda: features(1), steps=1)
    assert sorted(names[4:15]) == [
        f"global_step/{name}"
        for name in (
            "IsVariableInitialized", "add", "add/y", "cond/Merge", "cond/Switch", "cond/Switch_1",
            "cond/pred_id", "cond/read", "cond/read/Switch", "cond/switch_f", "cond/switch_t",
        )
    ]  # fmt: skip

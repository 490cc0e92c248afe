"""Programs of tf.contrib's estimators whose results 1.15.5 is asked for: name -> function of tf.

Real TensorFlow 1.15 reads this file too, by its path: nothing of ours is imported, and Python 3.7
will do.
"""

import tempfile

import numpy as np


def tpu_rows(tf, params):
    x = np.arange(8, dtype=np.float32).reshape(8, 1)
    rows = tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x))
    return rows.batch(params["batch_size"], drop_remainder=True)


def tpu_config(tf, **kwargs):
    """Return a config as programs for TPUs make it."""
    tpu = tf.contrib.tpu
    way = tpu.InputPipelineConfig.PER_HOST_V2
    return tpu.RunConfig(
        cluster=None, master=None, model_dir=tempfile.mkdtemp(), save_checkpoints_steps=100,
        tpu_config=tpu.TPUConfig(iterations_per_loop=10, num_shards=8,
                                 per_host_input_for_training=way),
        **kwargs
    )  # fmt: skip


def tpu_model(tf, told):
    """Return a model function that notes the modes and params, and what `host_call` is given."""
    spec = tf.contrib.tpu.TPUEstimatorSpec

    def absolute(labels, guess):
        return {"absolute": tf.metrics.mean_absolute_error(labels, guess)}

    def note(step, loss):
        return tf.py_func(lambda *a: np.int64(told.append([int(a[0][0])]) or 0), [step, loss],
                          tf.int64)  # fmt: skip

    def scaffold():
        told.append("scaffold")
        return tf.train.Scaffold()

    def model(features, labels, mode, params):
        told.append([mode, sorted(params.items())])
        w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
        guess = tf.matmul(features["x"], w)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return spec(mode, predictions={"guess": guess}, scaffold_fn=scaffold)
        loss = tf.losses.mean_squared_error(labels, guess)
        if mode == tf.estimator.ModeKeys.EVAL:
            return spec(mode, loss=loss, eval_metrics=(absolute, [labels, guess]))
        step = tf.train.get_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        call = (note, [tf.reshape(step, [1]), tf.reshape(loss, [1])])
        return spec(mode, loss=loss, train_op=train_op, host_call=call, scaffold_fn=scaffold)

    return model


def tpu_trained(tf):
    told = []
    made = tf.contrib.tpu.TPUEstimator(
        use_tpu=False, model_fn=tpu_model(tf, told), config=tpu_config(tf), train_batch_size=4,
        eval_batch_size=8, predict_batch_size=2, params={"a": 1},
    )  # fmt: skip

    def rows(params):
        told.append(sorted(params.items()))
        return tpu_rows(tf, params)

    made.train(rows, steps=2)
    found = made.evaluate(rows, steps=1)
    guesses = [float(each["guess"][0]) for each in made.predict(rows)]
    return [told, {name: float(value) for name, value in found.items()}, guesses, made.params]


def failed(call):
    """Return the class of the error of a call and how it begins, or what the call returns."""
    try:
        return call()
    except Exception as error:
        return [type(error).__mro__[0].__name__, str(error).split("(<")[0][:38]]


def tpu_errors(tf):
    tpu, one, config = tf.contrib.tpu, tf.constant(1.0), tpu_config(tf)
    model = tpu_model(tf, [])

    def estimator(**kwargs):
        return tpu.TPUEstimator(**dict({"model_fn": model, "config": config}, **kwargs))

    def metrics(given):
        return tpu.TPUEstimatorSpec("eval", loss=one, eval_metrics=given)

    calls = [
        lambda: estimator(params={"batch_size": 3}),
        lambda: estimator(config=tf.estimator.RunConfig()),
        lambda: estimator(use_tpu=False).train(lambda: None),
        lambda: estimator(use_tpu=False, model_fn=lambda features: None).train(lambda params: None),
        lambda: estimator(use_tpu=False).train(lambda params: tpu_rows(tf, params)),
        lambda: estimator(train_batch_size=8).train(lambda params: tpu_rows(tf, params)),
        lambda: estimator().train(lambda params: tpu_rows(tf, params)),
        lambda: metrics([1, [one]]), lambda: metrics([abs]), lambda: metrics([abs, 3]),
        lambda: metrics([lambda a, b: 0, [one]]),
        lambda: tpu.TPUEstimatorSpec("train", one, one, tf.no_op(), host_call=3),
        lambda: tpu.TPUEstimatorSpec("train"),
        lambda: tpu.TPUConfig(iterations_per_loop=0),
        lambda: tpu.TPUConfig(num_shards=0),
        lambda: tpu.TPUConfig(num_cores_per_replica=3),
        lambda: tpu.TPUConfig(initial_infeed_sleep_secs=-3),
        lambda: tpu.TPUConfig(input_partition_dims=[[1]]),
        lambda: tpu.TPUConfig(eval_training_input_configuration=3),
        lambda: tpu.RunConfig(master="a", cluster=3),
        lambda: tpu.CrossShardOptimizer(tf.train.AdamOptimizer(), reduction="none"),
        lambda: tf.contrib.cluster_resolver.TPUClusterResolver(),
        lambda: tf.contrib.cluster_resolver.TPUClusterResolver("name"),
    ]  # fmt: skip
    return [failed(call) for call in calls]


def tpu_configs(tf):
    tpu, resolver = tf.contrib.tpu, tf.contrib.cluster_resolver.TPUClusterResolver
    one = tpu.RunConfig(cluster=resolver("grpc://10.0.0.2:8470"), evaluation_master="grpc://b:1")
    other = one.replace(model_dir="folder", tpu_config=tpu.TPUConfig(num_shards=3))
    alone = [tpu.RunConfig(), tpu.RunConfig(master="x")]
    return [
        [each.master, each.evaluation_master, list(each.tpu_config), each.save_checkpoints_secs]
        for each in [one, other, *alone]
    ] + [list(tpu.TPUConfig(per_host_input_for_training=False)), resolver("").master(),
         resolver("local").cluster_spec()]  # fmt: skip


X = np.array([[1, 2], [2, 1], [3, 0], [0, 1.5], [4, 2], [5, 5]], np.float32)
TWO, THREE = np.array([0, 1, 1, 0, 1, 1]), np.array([0, 1, 2, 0, 1, 2])


def linear(tf, kind, y, **kwargs):
    """Train a linear model on arrays; return its metrics, its answers and its bias."""
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    made = getattr(learn, kind)(columns, model_dir=tempfile.mkdtemp(), **kwargs)
    assert failed(lambda: list(made.predict(X)))[0] == "NotFittedError"
    made.fit(x=X, y=y, steps=5)
    found = made.evaluate(x=X, y=y, steps=1)
    return [
        {name: float(value) for name, value in found.items()},
        [float(each) for each in made.predict(X)],
        made.predict(X, as_iterable=False).tolist(),
        made.get_variable_value("linear/bias_weight").tolist(),
    ]


def deep_names(tf):
    """Return variables that a network learns, and the names of its metrics."""
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    made = learn.DNNClassifier([4, 3], columns, tempfile.mkdtemp(), n_classes=3)
    made.fit(X, THREE, steps=1, batch_size=2)
    names = [name for name in made.get_variable_names() if name.endswith(("weights", "biases"))]
    shapes = [[name, made.get_variable_value(name).shape] for name in names]
    return [shapes, sorted(made.evaluate(X, THREE))]


def as_scikit(tf):
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    made = learn.SKCompat(learn.LinearClassifier(columns, tempfile.mkdtemp(), n_classes=3))
    found = made.fit(X, THREE, batch_size=6, steps=4).predict(X)
    return [{name: value.shape for name, value in found.items()}, sorted(made.score(X, THREE))]


def any_names(tf):
    """Train a model function whose arguments have other names, and that returns a tuple."""

    def model(x, y, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        guess = tf.matmul(x, w)
        if mode == tf.contrib.learn.ModeKeys.INFER:
            return {"guess": guess}, None, None
        loss = tf.losses.mean_squared_error(tf.reshape(y, [-1, 1]), guess)
        step = tf.contrib.framework.get_global_step()
        train_op = tf.contrib.layers.optimize_loss(loss, step, 0.01, "SGD")
        return {"guess": guess}, loss, train_op

    made = tf.contrib.learn.Estimator(model, tempfile.mkdtemp())
    made.fit(X, X[:, 0], steps=3).partial_fit(X, X[:, 0], steps=2)
    return made.predict(X, as_iterable=False)["guess"].tolist()


def keyed_rows(tf):
    words = tf.SparseTensor([[0, 0], [1, 1]], [5, 6], [2, 2])
    features = {"x": [[1.0], [2.0]], "id": [[7], [8]], "words": words}
    return tf.data.Dataset.from_tensors((features, [[2.0], [3.0]])).repeat(4)


def keyed(tf, *arguments):
    """Return the predictions and outputs of an estimator whose features are told, or an error."""
    column = tf.feature_column.numeric_column("x")
    base = tf.estimator.LinearRegressor([column], tempfile.mkdtemp())
    base.train(lambda: keyed_rows(tf), steps=3)
    try:
        made = tf.contrib.estimator.forward_features(base, *arguments)
        rows = made.predict(lambda: keyed_rows(tf))
        found = [{key: each.tolist() for key, each in row.items()} for row in rows][:2]
    except (TypeError, ValueError) as error:
        return type(error).__name__
    with tf.Graph().as_default():
        features, _ = tf.compat.v1.data.make_one_shot_iterator(keyed_rows(tf)).get_next()
        spec = made.model_fn(features, None, "infer", made.config)
    outputs = {name: getattr(each, "outputs", None) for name, each in spec.export_outputs.items()}
    return [found, {name: sorted(each) for name, each in outputs.items() if each}]


def forwarded(tf):
    """Return what features among predictions make, by the arguments."""
    given = [["id"], [["id", "x"]], [], [None, {"words": -1}], ["words"], ["words", {"words": 0}],
             ["none"], [3], [["id", 3]], ["predictions"]]  # fmt: skip
    return [keyed(tf, *each) for each in given]


def clipped(tf):
    """Return steps of optimizers whose gradients are clipped, and their names."""
    found = []
    for inside in (tf.train.GradientDescentOptimizer(0.5), tf.train.MomentumOptimizer(0.5, 0.9)):
        variables = [tf.Variable([1.0, 2.0]), tf.Variable(3.0)]
        loss = tf.reduce_sum(variables[0] * [3.0, 4.0]) + 2.0 * variables[1]
        optimizer = tf.contrib.estimator.clip_gradients_by_norm(inside, 1.0)
        step = optimizer.minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            session.run(step)
            values = session.run(variables)
        found.append([[each.tolist() for each in values], optimizer.get_name(),
                      optimizer.get_slot_names()])  # fmt: skip
    return found


POINTS = np.sin(np.arange(24)).reshape(12, 2).astype(np.float32)
POSITIVE = (POINTS > 0).astype(np.int32)
EITHER, KIND = POSITIVE.max(1, keepdims=True), POSITIVE.sum(1, keepdims=True)


def headed(tf, head, labels):
    """Return what a head makes of a linear model: predictions, metrics, losses, trained weights."""
    features = {"x": tf.constant(POINTS), "w": tf.constant(np.arange(12.0, dtype="f")[:, None])}
    weights = tf.get_variable("v", [2, head.logits_dimension],
                              initializer=tf.constant_initializer(0.3))  # fmt: skip
    logits, step = tf.matmul(features["x"], weights), tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1)
    trained = head.create_estimator_spec(features, "train", logits, labels, optimizer=train)
    measured = head.create_estimator_spec(features, "eval", logits, labels)
    told = head.create_estimator_spec(features, "infer", logits)
    loss = head.create_loss(features, "eval", logits, tf.constant(labels)).training_loss
    metrics = measured.eval_metric_ops
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([update for _, update in metrics.values()])
        values = session.run({key: value for key, (value, _) in metrics.items()})
        losses = session.run([trained.loss, measured.loss, loss])
        session.run(trained.train_op)
        after = session.run([weights, step])
        numbers = {k: v for k, v in told.predictions.items() if v.dtype == tf.float32}
        predicted = session.run(numbers)
    return [
        {key: round(float(value), 4) for key, value in values.items()},
        [round(float(each), 4) for each in losses], after[0].round(4).tolist(), int(after[1]),
        {key: value[:2].round(4).tolist() for key, value in predicted.items()},
        sorted(told.predictions), sorted(told.export_outputs),
    ]  # fmt: skip


def heads(tf):
    made = tf.contrib.estimator
    given = [
        (made.binary_classification_head(thresholds=[0.3], name="told"), EITHER),
        (made.binary_classification_head("w", loss_reduction=tf.losses.Reduction.SUM), EITHER),
        (made.multi_class_head(3, weight_column="w"), KIND),
        (made.multi_label_head(2, thresholds=[0.6]), POSITIVE),
        (made.multi_label_head(2, weight_column="w"), POSITIVE),
        (made.regression_head("w", 2), POINTS),
        (made.regression_head(loss_fn=lambda labels, logits: tf.abs(labels - logits)),
         POINTS[:, :1]),
        (made.logistic_regression_head(), EITHER.astype(np.float32)),
        (made.poisson_regression_head(), np.abs(POINTS[:, :1])),
    ]  # fmt: skip
    found = []
    for head, labels in given:
        with tf.Graph().as_default():
            found.append(headed(tf, head, labels))
    return found


def head_errors(tf):
    def error(call):
        try:
            return str(call())
        except ValueError as error:
            return type(error).__name__

    made = tf.contrib.estimator
    trained = made.binary_classification_head().create_estimator_spec
    logits, labels = tf.constant([[1.0]]), tf.constant([[1]])
    return [error(each) for each in (
        lambda: made.multi_label_head(1), lambda: made.multi_class_head(2),
        lambda: made.regression_head(label_dimension=0),
        lambda: trained({"x": logits}, "train", logits, labels),
        lambda: trained({"x": logits}, "train", logits, labels, "sgd", lambda loss: loss),
    )]  # fmt: skip


def below_heads(tf):
    """Return the metrics and names of variables of estimators that take a head."""

    def rows():
        given = ({"x": POINTS}, POSITIVE)
        return tf.data.Dataset.from_tensors(given)

    columns = [tf.feature_column.numeric_column("x", [2])]
    head, made = tf.contrib.estimator.multi_label_head(2), tf.estimator
    found = []
    for model in (
        made.LinearEstimator(head, columns, tempfile.mkdtemp()),
        made.BaselineEstimator(head, tempfile.mkdtemp()),
        made.DNNEstimator(head, [3], columns, tempfile.mkdtemp()),
        made.DNNLinearCombinedEstimator(head, tempfile.mkdtemp(), columns,
                                        dnn_feature_columns=columns, dnn_hidden_units=[3]),
    ):  # fmt: skip
        model.train(lambda: rows().repeat(3))
        metrics = model.evaluate(rows)
        is_random = len(found) > 1
        told = {key: 0 if is_random else round(float(each), 4) for key, each in metrics.items()}
        found.append([told, sorted(model.get_variable_names())])
    return found


def in_memory(tf):
    """Return what is evaluated while models are trained: steps and metrics, and calls of data."""
    calls = []

    def rows(count):
        def give():
            calls.append(count)
            return tf.data.Dataset.from_tensors(({"x": POINTS}, POINTS[:, :1])).repeat(count)

        return give

    columns, found = [tf.feature_column.numeric_column("x", [2])], []
    for options, count in (({"every_n_iter": 3}, 7), ({"every_n_iter": 2, "name": "a"}, 6)):
        model = tf.estimator.LinearRegressor(columns, tempfile.mkdtemp())
        hook = tf.estimator.experimental.InMemoryEvaluatorHook(model, rows(2), steps=1, **options)
        model.train(rows(count), hooks=[hook])
        (path,) = tf.gfile.Glob(model.eval_dir(options.get("name")) + "/*")
        found.append([
            [event.step, sorted([each.tag, round(each.simple_value, 4)]
                                for each in event.summary.value)]
            for event in tf.train.summary_iterator(path) if event.summary.value
        ])  # fmt: skip
    try:
        tf.estimator.experimental.InMemoryEvaluatorHook(model, rows(1), every_n_iter=0)
    except ValueError as error:
        found.append(type(error).__name__)
    return [found, calls]


PROGRAMS = {
    "models are evaluated while they are trained": in_memory,
    "heads of models of one's own": heads,
    "what heads are given is checked": head_errors,
    "estimators take heads": below_heads,
    "features are among the predictions": forwarded,
    "gradients are clipped by an optimizer": clipped,
    "a linear model of two classes takes arrays": lambda tf: linear(tf, "LinearClassifier", TWO),
    "a linear model of three classes takes arrays": lambda tf: linear(
        tf, "LinearClassifier", THREE, n_classes=3
    ),
    "a linear model's gradients are clipped": lambda tf: linear(
        tf,
        "LinearClassifier",
        TWO,
        gradient_clip_norm=0.5,
        optimizer=tf.train.GradientDescentOptimizer(0.1),
    ),
    "a linear model of numbers takes arrays": lambda tf: linear(tf, "LinearRegressor", X[:, 0]),
    "a network takes arrays": deep_names,
    "an estimator does as scikit-learn's": as_scikit,
    "a model function's arguments have any names": any_names,
    "a model for TPUs is trained on a CPU": tpu_trained,
    "what is said of TPUs is checked": tpu_errors,
    "what is said of TPUs is kept": tpu_configs,
}

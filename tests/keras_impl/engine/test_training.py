"""tf.keras trains as TensorFlow 1.15.5 does: numbers, names, printed lines, classes of errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.keras_impl.comparing import same
from tests.keras_impl.engine.training_cases import CASES, REAL, YES, X, Y, answer, compiled, pieces

EXPECTED = json.loads((Path(__file__).parent / "expected_training_1_15.json").read_text())


BOUNDS = {"rtol": 2e-5, "atol": 1e-5, "equal_nan": True}


@pytest.mark.parametrize("name", CASES)
def test_training_is_tensorflows(name):
    wanted, found = EXPECTED[name], json.loads(json.dumps(answer(tf, name)))
    assert same(wanted[0], found[0], **BOUNDS), f"{found[0]}, but TensorFlow says {wanted[0]}"
    assert wanted[1] == found[1]


@pytest.fixture
def keras():
    with tf.Graph().as_default(), tf.Session():
        yield tf.keras


FORMATS = {"a checkpoint": "model", "HDF5": "model.h5"}


@pytest.mark.parametrize("name", FORMATS.values(), ids=FORMATS)
def test_weights_come_back(keras, tmp_path, name):
    model = compiled(keras, optimizer="adam")
    model.fit(X, Y, verbose=0)
    model.save_weights(tmp_path / name)
    other = compiled(keras, optimizer="adam")
    other.load_weights(tmp_path / name)
    assert np.array_equal(other.predict(X), model.predict(X))


def test_a_whole_model_comes_back_and_trains_on(keras, tmp_path):
    model = compiled(keras, optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
    model.fit(X, Y, verbose=0)
    model.save(tmp_path / "model.h5")
    other = keras.models.load_model(tmp_path / "model.h5")
    assert other.train_on_batch(X, Y) == model.train_on_batch(X, Y)
    assert np.allclose(other.predict(X), model.predict(X))


def test_a_checkpoint_has_tensorflows_names(keras, tmp_path):
    model = compiled(keras, optimizer="adam")
    model.train_on_batch(X, Y)
    model.save_weights(tmp_path / "model")
    names = {name for name, _ in tf.train.list_variables(str(tmp_path / "model"))}
    value = ".ATTRIBUTES/VARIABLE_VALUE"
    assert {
        f"layer_with_weights-1/kernel/{value}", f"optimizer/iter/{value}",
        f"layer_with_weights-0/bias/.OPTIMIZER_SLOT/optimizer/m/{value}",
    } <= names  # fmt: skip


def test_callbacks_write_files(keras, tmp_path):
    callbacks = [
        keras.callbacks.CSVLogger(tmp_path / "table.csv"),
        keras.callbacks.ModelCheckpoint(
            f"{tmp_path}/{{epoch:02d}}", "loss", save_weights_only=True, save_best_only=True
        ),
        keras.callbacks.TensorBoard(tmp_path / "events"),
    ]
    compiled(keras).fit(X, Y, epochs=2, verbose=0, callbacks=callbacks)
    assert (tmp_path / "table.csv").read_text().startswith("epoch,acc,loss\n0,")
    assert {"01.index", "02.index", "checkpoint"} <= {path.name for path in tmp_path.iterdir()}
    (events,) = (tmp_path / "events").iterdir()
    tags = [v.tag for e in tf.train.summary_iterator(str(events)) for v in e.summary.value]
    assert sorted(set(tags)) == ["epoch_acc", "epoch_loss"]


def test_a_loss_that_is_no_number_ends_training(keras, capsys):
    optimizer = keras.optimizers.SGD(1e30)
    model = compiled(keras, "mse", optimizer, classes=1, last="linear", metrics=[])
    model.fit(X, REAL, epochs=9, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert "Invalid loss, terminating training" in capsys.readouterr().out


def test_the_learning_rate_can_be_set(keras):
    model = compiled(keras)
    model.train_on_batch(X, Y)
    before = model.get_weights()
    keras.backend.set_value(model.optimizer.lr, 0.0)
    model.train_on_batch(X, Y)
    assert all(map(np.array_equal, before, model.get_weights()))


def test_steps_need_a_generator_that_gives_pairs(keras):
    with pytest.raises(ValueError, match="tuple `\\(x, y"):
        compiled(keras).fit((x for x, _ in pieces()), steps_per_epoch=1, verbose=0)


def test_a_model_trains_on_a_cluster():
    server = tf.train.Server.create_local_server()
    try:
        with tf.Graph().as_default(), tf.Session(server.target):
            model = compiled(tf.keras, "binary_crossentropy", classes=1, last="sigmoid")
            losses = model.fit(X, YES, epochs=3, verbose=0).history["loss"]
            assert losses[2] < losses[0]
    finally:
        server.stop()


def test_mnist_is_read_from_a_file(tmp_path):
    images, labels = np.zeros([2, 28, 28], "u1"), np.arange(2, dtype="u1")
    path = tmp_path / "mnist.npz"
    np.savez(path, x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1])
    (x, y), (x_test, _) = tf.keras.datasets.mnist.load_data(str(path))
    assert (x.shape, y.tolist(), x_test.shape) == ((2, 28, 28), [0, 1], (1, 28, 28))


def test_reviews_are_cut_and_rare_words_replaced(tmp_path):
    rows = np.empty(2, object)
    rows[:] = [[1, 2, 9], [4]]
    path = tmp_path / "imdb.npz"
    np.savez(path, x_train=rows, y_train=[1, 0], x_test=rows[:1], y_test=[1])
    (x, _), (x_test, y_test) = tf.keras.datasets.imdb.load_data(str(path), num_words=10)
    assert sorted(x) == [[1, 4, 5, 2], [1, 7]]
    assert (list(x_test), y_test.tolist()) == ([[1, 4, 5, 2]], [1])


def test_a_missing_file_tells_where_it_belongs(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"datasets/boston_housing\.npz.*put it there"):
        tf.keras.datasets.boston_housing.load_data()


def test_images_are_flipped_and_scaled(keras):
    generator = keras.preprocessing.image.ImageDataGenerator(rescale=0.5, width_shift_range=1.0)
    images, labels = next(generator.flow(np.ones([5, 4, 4, 1]), np.arange(5), 3, seed=1))
    assert images.shape == (3, 4, 4, 1)
    assert len(labels) == 3
    assert np.all(images == 0.5)


def test_scikit_learns_methods(keras):
    classifier = keras.wrappers.scikit_learn.KerasClassifier(
        lambda: compiled(keras), epochs=2, verbose=0
    )
    classifier.fit(X, np.array(["a", "b", "c"])[Y])
    assert set(classifier.predict(X)) <= {"a", "b", "c"}
    assert 0 <= classifier.score(X, np.array(["a", "b", "c"])[Y]) <= 1


def test_a_model_may_end_in_what_stands_for_a_tensor(keras):
    """As a distribution does: the loss finds its methods, the rest of the model its tensor."""

    class Spread:
        def __init__(self, mean):
            self.mean, self.shape = mean, mean.shape
            self.dtype, self.get_shape = mean.dtype, mean.get_shape

        def error(self, labels):
            return tf.square(labels - self.mean)

    tf.register_tensor_conversion_function(
        Spread, lambda value, dtype=None, name=None, as_ref=False: value.mean
    )
    model = keras.Sequential([
        keras.layers.Dense(1, input_shape=[2], kernel_initializer="ones"),
        keras.layers.Lambda(Spread),
    ])  # fmt: skip
    model.compile("sgd", lambda labels, spread: spread.error(labels))
    history = model.fit(np.ones([4, 2]), np.zeros([4, 1]), epochs=2, verbose=0)
    assert history.history["loss"] == pytest.approx([2.0**2, 1.88**2])  # by hand

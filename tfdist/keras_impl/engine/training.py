"""Training: what a model has beside its layers: compile, fit, evaluate and predict.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.keras_impl.backend.sessions import with_values
from tfdist.keras_impl.callbacks.callbacks import CallbackList, configured
from tfdist.keras_impl.engine import saving
from tfdist.keras_impl.engine.training_data import (
    arrays_of,
    check_lengths,
    check_targets,
    target_shape,
    weights_of,
)
from tfdist.keras_impl.engine.training_inputs import Given, source_of
from tfdist.keras_impl.engine.training_loop import (
    announce,
    evaluate_loop,
    fit_loop,
    fresh_history,
    predict_loop,
)
from tfdist.keras_impl.engine.training_losses import Goal, add_metrics, goals, loss_object
from tfdist.keras_impl.engine.training_steps import Steps
from tfdist.keras_impl.optimizers import optimizers

_NOT_COMPILED = (
    "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
)


class Training:
    """What trains, evaluates and uses a network; `Model` is both."""

    inputs: list[Any]
    outputs: list[Any]
    input_names: list[str]
    output_names: list[str]
    optimizer: Any = None
    loss: Any = None
    history: Any = None
    stop_training = False
    _settings: dict[str, Any] | None = None  # what compile got
    _made_steps: Any = None
    _users: Any = None  # of a model that is not compiled: what predicts

    # compile

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Say what the model is trained for, and how.

        Args:
          optimizer: of keras, by name or object, or one of `tf.train`.
          loss: by name, function or object; a list or dictionary of them for several outputs.
          metrics: a list of them, by name, function or object; or a dictionary by outputs.
          loss_weights: what each output's loss counts, as list or dictionary.
          sample_weight_mode: "temporal" for weights of time steps.
          weighted_metrics: metrics for which weights of samples count.
          target_tensors: instead of what is wanted of outputs, so that `fit` gets none.
          distribute: must be None.
          **kwargs: `run_eagerly` must be false.

        Raises:
          ValueError: there is no such optimizer, loss or metric, no loss at all, or one for an
            output that the model has not.
          TypeError: another argument is given.
        """
        unknown = set(kwargs) - {"run_eagerly", "options", "run_metadata"}
        if unknown:
            raise TypeError(f"compile() got unexpected arguments: {sorted(unknown)}")
        if distribute is not None or kwargs.get("run_eagerly"):
            raise NotImplementedError("tfdist's models are graphs, and train in one session")
        self.optimizer, self.loss = optimizers.get(optimizer), loss
        self.loss_weights, self.sample_weight_mode = loss_weights, sample_weight_mode
        self._settings = {
            "loss": loss, "metrics": metrics, "loss_weights": loss_weights,
            "weighted_metrics": weighted_metrics, "sample_weight_mode": sample_weight_mode,
            "target_tensors": target_tensors,
        }  # fmt: skip
        self._made_steps = None
        if self.outputs:
            self._make_steps()
        elif isinstance(loss, str):
            loss_object(loss)  # an unknown one is told now, not at the first batch

    def _make_steps(self) -> None:
        settings: Any = self._settings
        with self.inputs[0].graph.as_default(), scopes.control_dependencies(None):
            made = goals(self.output_names, settings["loss"], settings["loss_weights"])
            self._check_trained(made)
            add_metrics(made, self.outputs, settings["metrics"], settings["weighted_metrics"])
        given = settings["target_tensors"]
        given = list(given.values()) if isinstance(given, Mapping) else nest.flatten(given or [])
        variables = self.trainable_weights  # type: ignore[attr-defined]
        self._made_steps = Steps(self, made, self.optimizer, variables, given)

    def _check_trained(self, made: Sequence[Goal]) -> None:
        is_trained = any(goal.loss is not None for goal in made)
        if not is_trained and not self.losses:  # type: ignore[attr-defined]
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")

    @property
    def _steps(self) -> Steps:
        if self._settings is None:
            raise RuntimeError(_NOT_COMPILED)
        if self._made_steps is None:
            if not self.outputs:
                raise RuntimeError("the model has no outputs yet: call it, or fit it")
            self._make_steps()
        return self._made_steps  # type: ignore[no-any-return]

    def _require_compiled(self) -> None:
        if self._settings is None:
            raise RuntimeError(_NOT_COMPILED)

    @property
    def metrics(self) -> list[Any]:
        """All metrics; before `compile` those that were added."""
        if self._settings is not None and self.outputs:
            return self._steps.metrics
        return super().metrics  # type: ignore[misc,no-any-return]

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` and `train_on_batch` return."""
        return ["loss", *(each.name for each in self._steps.metrics)]

    @property
    def total_loss(self) -> Any:
        """The loss that training lowers, as a tensor."""
        return self._steps.total_loss()

    @property
    def targets(self) -> list[Any]:
        """Placeholders for what is wanted of outputs."""
        return self._steps.targets

    @property
    def sample_weights(self) -> list[Any]:
        """Placeholders for the weights of samples."""
        return self._steps.weights

    def reset_metrics(self) -> None:
        """Let all metrics start anew."""
        for metric in self.metrics:
            metric.reset_states()

    # what users give

    def _inputs_of(self, x: Any) -> list[Any]:
        (x,) = with_values(x)
        if not self.inputs:
            self._set_inputs(x)  # type: ignore[attr-defined]
        shapes = [
            None if each.shape.ndims is None else tuple(each.shape.as_list())
            for each in self.inputs
        ]
        return arrays_of(x, self.input_names, shapes, "input")

    def _batch_of(self, x: Any, y: Any, weight: Any = None, classes: Any = None) -> Any:
        """Return flat lists of inputs, targets and weights."""
        x, y, weight = with_values(x, y, weight)
        inputs, steps = self._inputs_of(x), self._steps
        trained: list[tuple[Goal, Any]] = steps.trained
        if not trained and y is not None:
            raise ValueError(
                f"got y, but the model is trained for none of its outputs {self.output_names}: "
                "its losses are those of `add_loss` and of regularizers"
            )
        if not steps._own_targets:
            return inputs, [], []
        if y is None:
            raise ValueError(
                "You must give `y`, what is wanted, beside `x`: the model is trained for "
                f"{[goal.name for goal, _ in trained]}"
            )
        names = [goal.name for goal, _ in trained]
        y = [y[each] for each in names] if isinstance(y, Mapping) and set(names) < set(y) else y
        targets = arrays_of(y, names, [target_shape(*each) for each in trained], "target")
        check_targets([goal for goal, _ in trained], [each for _, each in trained], targets)
        mode = (self._settings or {})["sample_weight_mode"]
        weights = weights_of(weight, classes, names, targets, mode)
        check_lengths(inputs, targets, weights)
        return inputs, targets, weights

    def _given(self, **options: Any) -> Given:
        return Given(model=self, **options)

    # fit, evaluate, predict

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Train the model, and return its History.

        Args:
          x: array, or a list or dictionary of arrays; or a dataset, generator or Sequence, which
            give batches of x and y, or of x, y and weights.
          y: what is wanted: array, or a list or dictionary of arrays.
          batch_size: 32 by default; none for batches that come as such.
          epochs: number of the last epoch.
          verbose: 0 for silence, 1 for a bar of progress, 2 for a line for each epoch.
          callbacks: a list of them.
          validation_split: part of the samples, from the end, that is only evaluated.
          validation_data: (x, y) or (x, y, weights), or what gives batches.
          shuffle: whether samples are shuffled before each epoch; "batch" for batches of them.
          class_weight: dictionary from the number of a class to what it counts.
          sample_weight: what each sample counts.
          initial_epoch: number of the epochs that were there before.
          steps_per_epoch: number of batches in an epoch.
          validation_steps: number of batches of an evaluation.
          validation_freq: after how many epochs it is evaluated, or a list of epochs.
          max_queue_size: accepted for TensorFlow's sake: batches are made as they are wanted.
          workers: accepted for TensorFlow's sake.
          use_multiprocessing: accepted for TensorFlow's sake.
          **kwargs: `nb_epoch`, the former name of `epochs`.

        Raises:
          RuntimeError: the model is not compiled.
          ValueError: data have other shapes or numbers of samples, or there are no steps.
        """
        epochs = kwargs.pop("nb_epoch", epochs)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._require_compiled()
        given = self._given(
            x=x, y=y, sample_weight=sample_weight, class_weight=class_weight,
            batch_size=batch_size, steps=steps_per_epoch, shuffle=shuffle,
        )  # fmt: skip
        source, held = source_of(given, validation_split if validation_data is None else 0.0)
        validation = self._validation(validation_data, validation_steps, batch_size) or held
        return self._fit_with(
            source, validation, given, epochs, verbose, callbacks, initial_epoch, validation_freq
        )

    def _validation(self, data: Any, steps: int | None, batch_size: int | None) -> Any:
        if data is None:
            return None
        x, y, weight = data, None, None
        if isinstance(data, list | tuple):
            if len(data) not in (2, 3):
                raise ValueError(
                    "When passing a `validation_data` argument, it must contain either 2 items "
                    "(x_val, y_val), or 3 items (x_val, y_val, val_sample_weights), or be a "
                    f"dataset, a generator or a Sequence. However we received {len(data)} items."
                )
            x, y, weight = (*data, None)[:3]
        given = self._given(  # shuffled, as TensorFlow does: it draws from NumPy's generator
            x=x, y=y, sample_weight=weight, batch_size=batch_size, steps=steps, restarts=True,
            steps_name="validation_steps", shuffle=True,
        )  # fmt: skip
        return source_of(given)[0]

    def _fit_with(
        self, source: Any, validation: Any, given: Given, epochs: int, verbose: int,
        callbacks: Any, initial_epoch: int, validation_freq: Any,
    ) -> Any:  # fmt: skip
        steps, names = self._steps, self.metrics_names
        does = validation is not None
        params = {
            "batch_size": getattr(source, "batch_size", None), "epochs": epochs,
            "steps": None if source.counts_samples else source.steps,
            "samples": source.samples, "verbose": verbose, "do_validation": does,
            "metrics": names + [f"val_{name}" for name in names] * does,
        }  # fmt: skip
        history = fresh_history(self)
        called = configured(callbacks, self, params, history, names[1:])
        step = steps.function("train", given.is_weighted(source))
        if verbose:
            announce(source, validation, given.streams)

        def validate(epoch: int) -> Sequence[Any] | None:
            if not does or not _is_due(epoch, validation_freq):
                return None
            test = steps.function("test", given.is_weighted(validation))
            return evaluate_loop(self, validation, test, called)

        fit_loop(self, source, step, called, range(initial_epoch, epochs), validate)
        return history

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """Return the loss, or a list of loss and metrics: `metrics_names` tells which.

        See `fit` for the arguments.
        """
        self._require_compiled()
        given = self._given(
            x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, steps=steps,
            restarts=True, steps_name="steps",
        )  # fmt: skip
        source = source_of(given)[0]
        step = self._steps.function("test", given.is_weighted(source))
        found = evaluate_loop(self, source, step, self._called(callbacks, source), verbose)
        return found[0] if len(found) == 1 else found

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """Return the outputs for all samples: an array, or a list of them for several outputs.

        See `fit` for the arguments.
        """
        given = self._given(
            x=x, batch_size=batch_size, steps=steps, restarts=True, steps_name="steps",
            predicts=True,
        )  # fmt: skip
        source = source_of(given)[0]
        step = self._predicting()
        found = predict_loop(source, step, self._called(callbacks, source), verbose)
        return found[0] if len(found) == 1 else found

    def _called(self, callbacks: Any, source: Any) -> CallbackList:
        params = {
            "batch_size": getattr(source, "batch_size", None), "epochs": 1, "verbose": 0,
            "steps": None if source.counts_samples else source.steps, "samples": source.samples,
            "metrics": [],
        }  # fmt: skip
        return configured(callbacks, self, params, None, ())

    def _predicting(self) -> Callable[..., Any]:
        if self._users is None or self._users.model is not self:
            self._users = Steps.without_goals(self)
        return self._users.function("predict")  # type: ignore[no-any-return]

    # one batch

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """Train with one batch, and return its loss, or a list of loss and metrics.

        Args:
          x: array, or a list or dictionary of arrays.
          y: what is wanted, in the same form.
          sample_weight: what each sample counts.
          class_weight: what each class counts.
          reset_metrics: whether metrics are those of this batch alone.
        """
        return self._on_batch("train", x, y, sample_weight, class_weight, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """Return the loss of one batch, or a list of loss and metrics.

        See `train_on_batch` for the arguments.
        """
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics)

    def _on_batch(self, kind: str, x: Any, y: Any, weight: Any, classes: Any, resets: bool) -> Any:
        self._require_compiled()
        inputs, targets, weights = self._batch_of(x, y, weight, classes)
        found = self._steps.function(kind, bool(weights))(*inputs, *targets, *weights)
        if resets:
            self.reset_metrics()
        return found[0] if len(found) == 1 else list(found)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch.

        Args:
          x: array, or a list or dictionary of arrays.
        """
        found = self._predicting_inputs(x)
        return found[0] if len(found) == 1 else list(found)

    def _predicting_inputs(self, x: Any) -> Any:
        inputs = self._inputs_of(x)
        return self._predicting()(*inputs)

    # generators

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """Train with the batches of a generator or Sequence, and return the History.

        See `fit` for the arguments.
        """
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks,
            validation_data=validation_data, shuffle=shuffle, class_weight=class_weight,
            initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps, validation_freq=validation_freq,
        )  # fmt: skip

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Return loss and metrics over the batches of a generator or Sequence.

        See `evaluate` for the arguments.
        """
        return self.evaluate(generator, verbose=verbose, steps=steps, callbacks=callbacks)

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Return the outputs for the batches of a generator or Sequence.

        See `predict` for the arguments.
        """
        return self.predict(generator, verbose=verbose, steps=steps, callbacks=callbacks)

    # files

    def save(
        self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
        save_format: str | None = None, signatures: Any = None,
    ) -> None:  # fmt: skip
        """Write the model into a file: see `tf.keras.models.save_model`."""
        saving.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Write the weights: as a checkpoint of TensorFlow, or as HDF5.

        Args:
          filepath: of the file; what ends in .h5, .keras or .hdf5 is HDF5.
          overwrite: whether a file that is there is replaced.
          save_format: "tf" or "h5", where the name does not tell.

        Raises:
          ValueError: there is no such format, or the weights are not there yet.
        """
        saving.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Read the weights that `save_weights` wrote.

        Args:
          filepath: of the file.
          by_name: whether layers of the same name get them, for HDF5; others by their order.
        """
        return saving.load_weights(self, filepath, by_name)


def _is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency

"""Training: a model is fitted to data, evaluated, and asked to predict.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.keras_impl.callbacks.callbacks import CallbackList, configured
from tfdist.keras_impl.engine.training.batches import TrainsOnBatches
from tfdist.keras_impl.engine.training.inputs import Given, source_of
from tfdist.keras_impl.engine.training.loop import (
    announce,
    evaluate_loop,
    fit_loop,
    fresh_history,
    predict_loop,
)


class Training(TrainsOnBatches):
    """What trains, evaluates and uses a network; `Model` is both."""

    history: Any = None
    stop_training = False

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
        given = Given(
            model=self, x=x, y=y, sample_weight=sample_weight, class_weight=class_weight,
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
        given = Given(  # shuffled, as TensorFlow does: it draws from NumPy's generator
            model=self, x=x, y=y, sample_weight=weight, batch_size=batch_size, steps=steps,
            restarts=True, steps_name="validation_steps", shuffle=True,
        )  # fmt: skip
        return source_of(given)[0]

    def _fit_with(
        self, source: Any, validation: Any, given: Given, epochs: int, verbose: int,
        callbacks: Any, initial_epoch: int, validation_freq: Any,
    ) -> Any:  # fmt: skip
        steps, names = self._steps, self.metrics_names
        does = validation is not None
        params = {
            **_sizes(source), "epochs": epochs, "verbose": verbose, "do_validation": does,
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
        given = Given(
            model=self, x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, steps=steps,
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
        given = Given(
            model=self, x=x, batch_size=batch_size, steps=steps, restarts=True, steps_name="steps",
            predicts=True,
        )  # fmt: skip
        source = source_of(given)[0]
        step = self._predicting()
        found = predict_loop(source, step, self._called(callbacks, source), verbose)
        return found[0] if len(found) == 1 else found

    def _called(self, callbacks: Any, source: Any) -> CallbackList:
        params = {**_sizes(source), "epochs": 1, "verbose": 0, "metrics": []}
        return configured(callbacks, self, params, None, ())

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


def _sizes(source: Any) -> dict[str, Any]:
    """Return what callbacks are told of the source of batches."""
    return {
        "batch_size": getattr(source, "batch_size", None),
        "steps": None if source.counts_samples else source.steps,
        "samples": source.samples,
    }


def _is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency

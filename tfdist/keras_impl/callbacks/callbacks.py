"""tf.keras.callbacks: what is called at the beginning and end of training, epochs and batches.

Source: TF 1.15 API documentation, tf.keras.callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.keras_impl.callbacks.progress import Progbar

__all__ = [
    "BaseLogger", "Callback", "History", "LambdaCallback", "ProgbarLogger", "TerminateOnNaN",
]  # fmt: skip

Logs = Mapping[str, Any] | None


class Callback:
    """Does nothing; a subclass has the methods that it needs.

    Attributes:
      model: that is trained.
      params: a dictionary with "batch_size", "epochs", "samples", "steps", "metrics", "verbose".

    Example:
      >>> class Tells(keras.callbacks.Callback):
      ...     def on_epoch_end(self, epoch, logs=None):
      ...         print(epoch, sorted(logs))
      >>> Tells().on_epoch_end(0, {"loss": 0.5})
      0 ['loss']
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: Any = None
        self.validation_data: Any = None

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Take the settings of a run."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model."""
        self.model = model

    def on_train_begin(self, logs: Logs = None) -> None:
        """Called when training begins."""

    def on_train_end(self, logs: Logs = None) -> None:
        """Called when training ends."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Called when an epoch begins."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Called when an epoch ends; `logs` has losses and metrics, of validation too."""

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of training begins."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of training ends."""

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of training begins."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of training ends."""
        self.on_batch_end(batch, logs=logs)

    def on_test_begin(self, logs: Logs = None) -> None:
        """Called when an evaluation begins."""

    def on_test_end(self, logs: Logs = None) -> None:
        """Called when an evaluation ends."""

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of an evaluation begins."""

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of an evaluation ends."""

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Called when a prediction begins."""

    def on_predict_end(self, logs: Logs = None) -> None:
        """Called when a prediction ends."""

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of a prediction begins."""

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called when a batch of a prediction ends."""


class CallbackList:
    """Several callbacks as one: calls each that has a method of its own for what happens."""

    def __init__(self, callbacks: Iterable[Callback], model: Any, params: Any) -> None:
        self.callbacks = list(callbacks)
        for each in self.callbacks:
            each.set_model(model)
            each.set_params(params)
        self._listeners: dict[str, list[Callable[..., Any]]] = {}

    def call(self, event: str, *arguments: Any) -> None:
        """Call the method `event` of each; the last argument are the logs."""
        for listener in self.listeners(event):
            listener(*arguments)

    def listeners(self, event: str) -> list[Callable[..., Any]]:
        """Return the methods to call; those that do nothing are left out."""
        if event not in self._listeners:
            found = [getattr(each, event) for each in self.callbacks if _has(each, event)]
            self._listeners[event] = found
        return self._listeners[event]


def _has(callback: Any, event: str) -> bool:
    """Return whether a callback does something at an event."""
    own = getattr(type(callback), event, None)
    if own is not getattr(Callback, event, None) or event in getattr(callback, "__dict__", ()):
        return True
    if type(callback).__getattribute__ is not object.__getattribute__:
        return True
    alias = event.replace("_train_batch_", "_batch_")
    return alias != event and _has(callback, alias)


class BaseLogger(Callback):
    """Puts means over the batches of an epoch into its logs.

    Args:
      stateful_metrics: names of values that are taken as they are at the end.

    Example:
      >>> keras.callbacks.BaseLogger().stateful_metrics
      set()
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen, self.totals = 0, dict[str, Any]()

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0) * logs.get("num_steps", 1)
        self.seen += size
        for key, value in logs.items():
            if key in self.stateful_metrics:
                self.totals[key] = value
            else:
                self.totals[key] = self.totals.get(key, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        for key in self.params["metrics"] if logs is not None else ():
            if key in self.totals:
                total = self.totals[key]
                logs[key] = total if key in self.stateful_metrics else total / self.seen


class TerminateOnNaN(Callback):
    """Ends training when a loss is not a number, or infinite.

    Example:
      >>> keras.callbacks.TerminateOnNaN().on_batch_end(0, {"loss": 0.5})
    """

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Prints a bar of progress for each epoch.

    Args:
      count_mode: "samples" or "steps".
      stateful_metrics: names of values that are shown as they are; others are averaged.

    Raises:
      ValueError: there is no such mode.

    Example:
      >>> keras.callbacks.ProgbarLogger("steps").use_steps
      True
    """

    def __init__(
        self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None
    ) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}; there are samples and steps")
        self.use_steps, self.stateful_metrics = count_mode == "steps", set(stateful_metrics or ())
        self.progbar: Any = None

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self.seen, self.log_values = 0, list[tuple[str, Any]]()
        self.target = self.params["steps" if self.use_steps else "samples"]
        if self.params["verbose"] and self.params["epochs"] > 1:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        unit = "step" if self.use_steps else "sample"
        self.progbar = Progbar(
            self.target, verbose=self.params["verbose"],
            stateful_metrics=list(self.stateful_metrics), unit_name=unit,
        )  # fmt: skip

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        self.log_values = [(k, logs[k]) for k in self.params["metrics"] if k in logs]
        if self.params["verbose"] and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self.log_values)
        else:
            self._last = self.seen

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        logs = logs or {}
        named = [(k, logs[k]) for k in self.params["metrics"] if k in logs]
        if self.params["verbose"]:
            self.progbar.stateful_metrics |= {key for key, _ in named}
            if self.progbar.target is None:
                self.progbar.target = self.seen
            self.progbar.update(self.seen, named)


class History(Callback):
    """Keeps what each epoch has told; `fit` returns one.

    Attributes:
      history: lists of values, one for each epoch, by name.
      epoch: the numbers of the epochs.

    Example:
      >>> history = keras.callbacks.History()
      >>> history.on_train_begin()
      >>> history.on_epoch_end(0, {"loss": 0.5})
      >>> history.history
      {'loss': [0.5]}
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs = None) -> None:
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


class LambdaCallback(Callback):
    """Calls functions.

    Args:
      on_epoch_begin: function of epoch and logs.
      on_epoch_end: function of epoch and logs.
      on_batch_begin: function of batch and logs.
      on_batch_end: function of batch and logs.
      on_train_begin: function of logs.
      on_train_end: function of logs.
      **kwargs: other attributes.

    Example:
      >>> callback = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch))
      >>> callback.on_epoch_end(3, {})
      3
    """

    def __init__(
        self, on_epoch_begin: Any = None, on_epoch_end: Any = None, on_batch_begin: Any = None,
        on_batch_end: Any = None, on_train_begin: Any = None, on_train_end: Any = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin, "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin, "on_train_end": on_train_end,
        }  # fmt: skip
        vars(self).update(kwargs)
        vars(self).update({key: value for key, value in given.items() if value is not None})


def configured(
    given: Sequence[Callback] | Callback | None, model: Any, params: Mapping[str, Any],
    history: History | None, stateful: Iterable[str],
) -> CallbackList:  # fmt: skip
    """Return callbacks for a run: those of a program, history, and a bar if it is wanted."""
    alone = isinstance(given, Callback)
    own: list[Any] = [given] if alone else list(given or ())  # type: ignore[arg-type]
    listed: list[Callback] = own if history is None else [*own, history]
    if params["verbose"] and history is not None:
        mode = "steps" if params["steps"] is not None else "samples"
        listed = [*listed, ProgbarLogger(mode, stateful)]
    return CallbackList(listed, model, params)

"""tf.keras.callbacks that watch a value: they stop training, or change the learning rate.

Source: TF 1.15 API documentation, tf.keras.callbacks.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.keras_impl.backend.sessions import get_value, set_value
from tfdist.keras_impl.callbacks.callbacks import Callback, Logs

LOG = logging.getLogger("tensorflow")

__all__ = ["EarlyStopping", "LearningRateScheduler", "ReduceLROnPlateau"]


def direction(mode: str, monitor: str) -> int:
    """Return 1 if larger values of what is watched are better, -1 if smaller ones are."""
    if mode not in ("min", "max"):
        mode = "max" if "acc" in monitor or monitor.startswith("fmeasure") else "min"
    return 1 if mode == "max" else -1


class EarlyStopping(Callback):
    """Ends training when a value has not become better for some epochs.

    Args:
      monitor: name of the value.
      min_delta: less than that is not better.
      patience: number of epochs.
      verbose: 1 to tell.
      mode: "min" or "max": what is better; "auto" goes by the name.
      baseline: value that must be reached.
      restore_best_weights: whether the model gets the weights of its best epoch back.

    Example:
      >>> keras.callbacks.EarlyStopping("val_loss", patience=3).patience
      3
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0,
        verbose: int = 0, mode: str = "auto", baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.baseline, self.restore_best_weights = baseline, restore_best_weights
        self._sign = direction(mode, monitor)
        self.min_delta = self._sign * abs(min_delta)
        self.wait = self.stopped_epoch = 0
        self.best: Any = None
        self.best_weights: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        self.wait = self.stopped_epoch = 0
        self.best = -self._sign * np.inf if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self._sign * (current - self.min_delta) > self._sign * self.best:
            self.best, self.wait = current, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._stop(epoch)

    def _stop(self, epoch: int) -> None:
        self.stopped_epoch = epoch
        self.model.stop_training = True
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print("Restoring model weights from the end of the best epoch.")
            self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: Logs) -> Any:
        """Return the value that is watched; None, and a warning, if there is none."""
        return watched(self.monitor, logs, "Early stopping")


def watched(monitor: str, logs: Logs, what: str) -> Any:
    """Return a value of an epoch; None, and a warning, if there is none."""
    found = (logs or {}).get(monitor)
    if found is None:
        known = ",".join(logs or ())
        LOG.warning(
            f"{what} conditioned on metric `{monitor}` which is not available. Available metrics "
            f"are: {known}"
        )
    return found


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch.

    Args:
      schedule: function from the number of an epoch to its rate, or from that and the rate before.
      verbose: 1 to tell.

    Example:
      >>> keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (1 + epoch)).schedule(1)
      0.05
    """

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        rate = self._rate(epoch, float(get_value(self.model.optimizer.lr)))
        if not isinstance(rate, float | np.float32 | np.float64):
            raise ValueError('The output of the "schedule" function should be float.')
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}."
            )

    def _rate(self, epoch: int, before: float) -> Any:
        try:
            takes = len(inspect.signature(self.schedule).parameters)
        except (TypeError, ValueError):
            takes = 1
        return self.schedule(epoch, before) if takes > 1 else self.schedule(epoch)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when a value has not become better for some epochs.

    Args:
      monitor: name of the value.
      factor: what the rate is multiplied by.
      patience: number of epochs.
      verbose: 1 to tell.
      mode: "min" or "max": what is better; "auto" goes by the name.
      min_delta: less than that is not better.
      cooldown: number of epochs to wait after the rate was lowered.
      min_lr: the least rate.
      **kwargs: `epsilon`, the former name of `min_delta`.

    Raises:
      ValueError: the factor is 1 or more.

    Example:
      >>> keras.callbacks.ReduceLROnPlateau(factor=0.5).factor
      0.5
    """

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10,
        verbose: int = 0, mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0,
        min_lr: float = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self.monitor, self.factor, self.patience = monitor, factor, patience
        self.verbose, self.cooldown, self.min_lr = verbose, cooldown, min_lr
        self.min_delta = kwargs.pop("epsilon", min_delta)
        self._sign = direction(mode, monitor)
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.wait = -self._sign * np.inf, 0, 0

    def on_train_begin(self, logs: Logs = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Return whether the rate was lowered a short while ago."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        logs["lr"] = get_value(self.model.optimizer.lr)
        current = watched(self.monitor, logs, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._sign * current - self.min_delta > self._sign * self.best:
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(epoch)

    def _lower(self, epoch: int) -> None:
        before = float(get_value(self.model.optimizer.lr))
        if before <= self.min_lr:
            return
        rate = max(before * self.factor, self.min_lr)
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.")
        self.cooldown_counter, self.wait = self.cooldown, 0

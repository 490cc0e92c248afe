"""The loop over epochs and batches, of training, of evaluation and of prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.keras_impl.callbacks.callbacks import CallbackList, History
from tfdist.keras_impl.callbacks.progress import Progbar
from tfdist.keras_impl.engine.training.sources import size_of


class Totals:
    """The results of an epoch: the mean loss of samples or steps, and metrics as they are last."""

    def __init__(self, per_sample: bool) -> None:
        self._per_sample, self._loss, self._count = per_sample, 0.0, 0
        self._others: Sequence[Any] = ()
        self.steps = 0

    def add(self, results: Sequence[Any], size: int) -> None:
        """Take the results of a batch."""
        count = size if self._per_sample else 1
        self._loss += float(results[0]) * count
        self._count += count
        self._others = results[1:]
        self.steps += 1

    def values(self) -> list[Any]:
        """Return the results of all batches."""
        if not self._count:
            raise ValueError("Empty training data: there was no batch.")
        return [self._loss / self._count, *map(float, self._others)]


def run_epoch(
    step: Callable[..., Any], source: Any, callbacks: CallbackList, mode: str,
    names: Sequence[str], shows: Callable[[int, Any], None] | None = None,
) -> Totals:  # fmt: skip
    """Run all batches of a source.

    Args:
      step: what runs a batch.
      source: of batches.
      callbacks: called at each batch.
      mode: "train" or "test".
      names: of the results.
      shows: called with how far it is, and results.
    """
    totals, seen = Totals(source.counts_samples), 0
    begins = callbacks.listeners(f"on_{mode}_batch_begin")
    ends = callbacks.listeners(f"on_{mode}_batch_end")
    for index, batch in enumerate(source.batches()):
        size = size_of(batch)
        for listener in begins:
            listener(index, {"batch": index, "size": size})
        results = step(*batch[0], *batch[1], *batch[2])
        totals.add(results, size)
        if ends:
            logs = {"batch": index, "size": size, **dict(zip(names, results, strict=True))}
            for listener in ends:
                listener(index, logs)
        if shows:
            seen += size if source.counts_samples else 1
            shows(seen, results)
        if mode == "train" and callbacks_stop(callbacks):
            break
    return totals


def callbacks_stop(callbacks: CallbackList) -> bool:
    """Return whether a callback has ended training."""
    return bool(callbacks.callbacks) and callbacks.callbacks[0].model.stop_training


def fit_loop(
    model: Any, source: Any, step: Callable[..., Any], callbacks: CallbackList,
    epochs: range, validate: Callable[[int], Sequence[Any] | None],
) -> None:  # fmt: skip
    """Train for several epochs.

    Args:
      model: compiled.
      source: of batches.
      step: what trains with a batch.
      callbacks: called at each epoch and batch.
      epochs: their numbers.
      validate: function from an epoch to the results of validation; None for none.
    """
    model.stop_training = False
    names = model.metrics_names
    callbacks.call("on_train_begin", None)
    for epoch in epochs:
        model.reset_metrics()
        callbacks.call("on_epoch_begin", epoch, {})
        totals = run_epoch(step, source, callbacks, "train", names)
        logs = dict(zip(names, totals.values(), strict=True))
        found = validate(epoch)
        if found is not None:
            logs.update((f"val_{key}", each) for key, each in zip(names, found, strict=True))
        callbacks.call("on_epoch_end", epoch, logs)
        if model.stop_training:
            break
    callbacks.call("on_train_end", None)


def evaluate_loop(
    model: Any, source: Any, step: Callable[..., Any], callbacks: CallbackList, verbose: int = 0
) -> list[Any]:
    """Return loss and metrics over all batches of a source."""
    model.reset_metrics()
    names = model.metrics_names
    callbacks.call("on_test_begin", None)
    bar = _bar(source, verbose, names[1:])
    last = source.samples if source.counts_samples else source.steps

    def shows(seen: int, results: Sequence[Any]) -> None:
        if last is None or seen < last:
            bar.update(seen, list(zip(names, map(float, results), strict=True)))

    totals = run_epoch(step, source, callbacks, "test", names, shows if verbose else None)
    values = totals.values()
    if verbose:
        bar.stateful_metrics |= {"loss"}
        seen = last if last is not None else totals.steps
        bar.target = seen
        bar.update(seen, list(zip(names, values, strict=True)))
    callbacks.call("on_test_end", None)
    return values


def predict_loop(
    source: Any, step: Callable[..., Any], callbacks: CallbackList, verbose: int = 0
) -> list[Any]:
    """Return the outputs for all batches of a source, joined."""
    found: list[list[Any]] = []
    callbacks.call("on_predict_begin", None)
    begins = callbacks.listeners("on_predict_batch_begin")
    ends = callbacks.listeners("on_predict_batch_end")
    bar, seen = _bar(source, verbose, ()), 0
    for index, batch in enumerate(source.batches()):
        size = size_of(batch)
        for listener in begins:
            listener(index, {"batch": index, "size": size})
        outputs = step(*batch[0])
        found.append(outputs)
        for listener in ends:
            listener(index, {"batch": index, "size": size, "outputs": outputs})
        seen += size if source.counts_samples else 1
        if verbose:
            bar.update(seen)
    callbacks.call("on_predict_end", None)
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _bar(source: Any, verbose: int, stateful: Sequence[str]) -> Progbar:
    target = source.samples if source.counts_samples else source.steps
    unit = "sample" if source.counts_samples else "step"
    return Progbar(target, verbose=verbose, stateful_metrics=stateful, unit_name=unit)


def announce(source: Any, validation: Any, streams: bool) -> None:
    """Print how much there is to train with; generators do not tell."""
    if streams:
        return
    text = f"Train on {_amount(source)}"
    print(text + (f", validate on {_amount(validation)}" if validation is not None else ""))


def _amount(source: Any) -> str:
    if source.counts_samples:
        return f"{source.samples} samples"
    return f"{'...' if source.steps is None else source.steps} steps"


def fresh_history(model: Any) -> History:
    """Return a new History, and make it the model's."""
    model.history = History()
    return model.history  # type: ignore[no-any-return]

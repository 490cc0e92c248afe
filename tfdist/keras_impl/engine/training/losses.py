"""What a model is compiled with: a loss, its weight and metrics for each output.

Source: TF 1.15 API documentation, tf.keras.Model.compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdist.keras_impl.losses import losses as functions
from tfdist.keras_impl.losses.loss import Loss, LossFunctionWrapper
from tfdist.keras_impl.losses.loss_classes import get as get_loss
from tfdist.keras_impl.metrics import functions as metrics_functions
from tfdist.keras_impl.metrics import metrics
from tfdist.keras_impl.metrics.metric import MeanMetricWrapper, Metric

# Losses whose y_true has the shape of y_pred, and the one where its last axis is 1.
SAME_SHAPE = {
    functions.mean_squared_error, functions.binary_crossentropy,
    functions.categorical_crossentropy,
}  # fmt: skip
SPARSE = functions.sparse_categorical_crossentropy
_ACCURACY, _ENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


@dataclass
class Goal:
    """What one output of a model is trained for.

    Attributes:
      name: of the output.
      loss: Loss, or None for an output that is not trained.
      weight: of the loss.
      metrics: pairs of Metric and whether sample weights count for it.
    """

    name: str
    loss: Loss | None
    weight: Any = 1.0
    metrics: list[tuple[Metric, bool]] = field(default_factory=list)

    @property
    def function(self) -> Any:
        """The loss as a function, None if it is a Loss of a program's own."""
        return getattr(self.loss, "fn", None)


def loss_object(given: Any) -> Loss | None:
    """Return a loss by name, function or object as a Loss."""
    found = get_loss(given)
    if found is None or isinstance(found, Loss):
        return found
    if not callable(found):
        raise ValueError(f"{given!r} is no loss: a name, a function or a Loss")
    name = getattr(found, "__name__", type(found).__name__).replace("<lambda>", "lambda")
    return LossFunctionWrapper(found, "sum_over_batch_size", name)


def per_output(given: Any, names: Sequence[str], what: str, each: Any = None) -> list[Any]:
    """Return one of `given` for each output.

    Args:
      given: one for all, a list in their order, or a dictionary by their names.
      names: of the outputs.
      what: they are, for errors.
      each: what an output gets that a dictionary does not name.

    Raises:
      ValueError: the dictionary names another, or the list has another length.
    """
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(
                f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: "
                f"{list(names)}"
            )
        return [given.get(name, each) for name in names]
    if isinstance(given, list | tuple):
        if len(given) != len(names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry per model output. The "
                f"model has {len(names)} outputs, but you passed {what}={given}"
            )
        return list(given)
    return [given for _ in names]


def goals(names: Sequence[str], loss: Any, loss_weights: Any) -> list[Goal]:
    """Return what each output is trained for, still without metrics.

    Raises:
      ValueError: there is a loss for an output that there is not.
    """
    found = [loss_object(each) for each in per_output(loss, names, "loss")]
    weights = [1.0] * len(names)
    if loss_weights is not None:
        weights = per_output(loss_weights, names, "loss_weights", 1.0)
    return [Goal(*each) for each in zip(names, found, weights, strict=True)]


def add_metrics(goals: Sequence[Goal], outputs: Sequence[Any], given: Any, weighted: Any) -> None:
    """Give each goal its metrics, whose names are all different."""
    names = [goal.name for goal in goals]
    taken: dict[str, int] = {}
    both = ((given, False), (weighted, True))
    listed = [(_listed(metric_names, names), is_weighted) for metric_names, is_weighted in both]
    for number, (goal, output) in enumerate(zip(goals, outputs, strict=True)):
        prefix = f"{goal.name}_" if len(goals) > 1 else ""
        for lists, is_weighted in listed:
            for each in lists[number]:
                before = prefix + ("weighted_" if is_weighted else "")
                metric = _metric(each, goal, output, before, len(goals) > 1)
                metric.name = _unique(metric.name, taken)
                goal.metrics.append((metric, is_weighted))


def _listed(given: Any, names: Sequence[str]) -> list[list[Any]]:
    """Return the metrics of each output; a plain list is for all of them."""
    if given is None:
        return [[] for _ in names]
    if isinstance(given, Mapping):
        found = per_output(given, names, "metrics", [])
        return [list(each) if isinstance(each, list | tuple) else [each] for each in found]
    if not isinstance(given, list | tuple):
        raise TypeError(
            f"Type of `metrics` argument not understood. Expected a list or dictionary, found: "
            f"{given}"
        )
    if any(isinstance(each, list | tuple) for each in given):
        found = per_output(given, names, "metrics")
        return [list(each) if isinstance(each, list | tuple) else [each] for each in found]
    return [list(given) for _ in names]


def _unique(name: str, taken: dict[str, int]) -> str:
    number = taken[name] = taken.get(name, 0) + 1
    return name if number == 1 else f"{name}_{number - 1}"


def _metric(given: Any, goal: Goal, output: Any, prefix: str, copies: bool) -> Metric:
    if isinstance(given, str) and given in _ACCURACY + _ENTROPY:
        kind = "acc" if given in _ACCURACY else "ce"
        return MeanMetricWrapper(_by_shape(kind, goal, output), prefix + kind)
    found = metrics.get(given)
    found = found() if isinstance(found, type) else found
    if isinstance(found, Metric):
        if copies:
            found = type(found).from_config(found.get_config())
        found.name = prefix + found.name
        return found
    if isinstance(found, Loss):
        return MeanMetricWrapper(found.call, prefix + str(found.name))
    name = getattr(found, "__name__", type(found).__name__)
    return MeanMetricWrapper(found, prefix + name)


def _by_shape(kind: str, goal: Goal, output: Any) -> Callable[..., Any]:
    """Return the accuracy, or the cross entropy, that fits an output and its loss."""
    last = output.shape.as_list()[-1] if output.shape.ndims else None
    is_accuracy = kind == "acc"
    if last == 1 or goal.function is functions.binary_crossentropy:
        return metrics_functions.binary_accuracy if is_accuracy else functions.binary_crossentropy
    if goal.function is SPARSE:
        return metrics_functions.sparse_categorical_accuracy if is_accuracy else SPARSE
    if is_accuracy:
        return metrics_functions.categorical_accuracy
    return functions.categorical_crossentropy

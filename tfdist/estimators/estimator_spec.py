"""EstimatorSpec: what a model function returns, checked.

Source: TF 1.15 API documentation, tf.estimator.EstimatorSpec; messages by experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfdist.estimators.export_outputs import ExportOutput, PredictOutput
from tfdist.graph import scopes
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.reshape import reshape
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_run_hook import SessionRunHook

__all__ = ["EstimatorSpec", "ModeKeys"]

DEFAULT_SIGNATURE = "serving_default"


class ModeKeys:
    """What a model function is called for.

    Attributes:
      TRAIN: to train.
      EVAL: to evaluate.
      PREDICT: to predict.

    Example:
      >>> estimator.ModeKeys.TRAIN, estimator.ModeKeys.EVAL, estimator.ModeKeys.PREDICT
      ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


# What a mode cannot do without.
_NEEDED = {
    ModeKeys.TRAIN: ("train_op", "loss"),
    ModeKeys.EVAL: ("loss",),
    ModeKeys.PREDICT: ("predictions",),
}


class EstimatorSpec(_Fields):
    """What a model function returns.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor, or a dict of tensors; needed to predict.
      loss: a scalar, or of shape [1]; needed to train and to evaluate.
      train_op: an operation that trains one step; needed to train.
      eval_metric_ops: a dict of metrics: pairs of a value and an operation that adds a batch.
      export_outputs: a dict of `tf.estimator.export.ExportOutput`s, for SavedModels.
      training_chief_hooks: SessionRunHooks of the chief's training.
      training_hooks: SessionRunHooks of everybody's training.
      scaffold: Scaffold; one of the default parts by default.
      evaluation_hooks: SessionRunHooks.
      prediction_hooks: SessionRunHooks.

    Raises:
      ValueError: something is missing, of the wrong shape, or of another graph.
      TypeError: something is of the wrong type.

    Example:
      >>> loss, train_op = constant([2.0]), no_op()
      >>> spec = estimator.EstimatorSpec("train", loss=loss, train_op=train_op)
      >>> spec.loss.shape, spec.training_hooks
      (TensorShape([]), ())
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        """Return a spec, checked."""
        given = {"train_op": train_op, "loss": loss, "predictions": predictions}
        for name in _NEEDED.get(mode, ()):
            if given[name] is None:
                raise ValueError(f"Missing {name}.")
        hooks = [
            _checked_hooks(each)
            for each in (training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks)
        ]
        return super().__new__(
            cls, mode, _checked_predictions(predictions), _checked_loss(loss),
            _checked_train_op(train_op), _checked_metrics(eval_metric_ops),
            _checked_outputs(export_outputs, predictions, mode),
            hooks[0], hooks[1], _checked_scaffold(scaffold), hooks[2], hooks[3],
        )  # fmt: skip

    def _replace(self, **fields: Any) -> EstimatorSpec:
        """Return a spec with other values, checked."""
        return EstimatorSpec(**{**self._asdict(), **fields})


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def _of_this_graph(value: Any, what: str) -> Any:
    if getattr(value, "graph", None) not in (None, scopes.get_default_graph()):
        raise ValueError(
            f'{what} with "{value.name}" must be from the default graph. Make it in the model '
            "function, and return what its latest call has made."
        )
    return value


def _checked_loss(loss: Any) -> Any:
    if loss is None:
        return None
    if not _is_tensor(loss):
        raise TypeError(f"loss must be Tensor, given: {loss}")
    _of_this_graph(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    return loss if shape.is_compatible_with([]) else reshape(loss, [])


def _checked_train_op(train_op: Any) -> Any:
    if train_op is not None and not isinstance(train_op, Operation) and not _is_tensor(train_op):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    return train_op if train_op is None else _of_this_graph(train_op, "train_op")


def _checked_predictions(predictions: Any) -> Any:
    if predictions is None:
        return {}
    named = predictions if isinstance(predictions, Mapping) else {None: predictions}
    for key, value in named.items():
        what = "predictions" if key is None else f"predictions[{key}]"
        if not _is_tensor(value) and not hasattr(value, "dense_shape"):
            raise TypeError(f"{what} must be Tensor, given: {value}")
        _of_this_graph(value, what)
    return predictions


def _checked_metrics(metrics: Any) -> Mapping[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, pair in metrics.items():
        if not _is_metric(pair):
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{pair} for key: {key}"
            )
        for each in pair:
            _of_this_graph(each, "eval_metric_ops")
    return metrics


def _is_metric(pair: Any) -> bool:
    """Say whether it is a value, and what adds to it."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return False
    return all(_is_tensor(each) or isinstance(each, Operation) for each in pair)


def _checked_hooks(hooks: Any) -> tuple[Any, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return found


def _checked_scaffold(scaffold: Any) -> Scaffold:
    if scaffold is None:
        return Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _checked_outputs(outputs: Any, predictions: Any, mode: str) -> Any:
    """Return what a SavedModel gives, one of it as the default."""
    if outputs is None:
        return _predicted(predictions) if mode == ModeKeys.PREDICT else None
    if not isinstance(outputs, Mapping):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    if not all(isinstance(each, ExportOutput) for each in outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")
    if DEFAULT_SIGNATURE in outputs:
        return outputs
    if len(outputs) > 1:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default: "
            f"name one of {sorted(outputs)} {DEFAULT_SIGNATURE!r}."
        )
    return {**outputs, DEFAULT_SIGNATURE: next(iter(outputs.values()))} if outputs else outputs


def _predicted(predictions: Any) -> dict[str, ExportOutput]:
    return {DEFAULT_SIGNATURE: PredictOutput(predictions)}

"""Estimators in the spelling of tf.contrib.learn: fit, evaluate and predict.

Thin layers over tf.estimator. TF_CONFIG is read as it was usual then: without a chief or master,
worker 0 is the chief.

Source: TF 1.15 API documentation, tf.contrib.learn.Estimator and those beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfdist.estimators import estimator as core
from tfdist.estimators import run_config as core_config
from tfdist.estimators.estimator_spec import EstimatorSpec
from tfdist.estimators.inputs import numpy_input_fn
from tfdist.estimators.model_calls import arguments_of
from tfdist.estimators.task_config import legacy_task_config
from tfdist.protos import pb

__all__ = ["Estimator", "ModeKeys", "ModelFnOps", "NotFittedError", "RunConfig", "SKCompat"]


class NotFittedError(ValueError, AttributeError):
    """What is asked has not been trained.

    Example:
      >>> issubclass(contrib.learn.NotFittedError, ValueError)
      True
    """


class ModeKeys:
    """What a model function is called for.

    Attributes:
      TRAIN: to train.
      EVAL: to evaluate.
      INFER: to predict.

    Example:
      >>> contrib.learn.ModeKeys.INFER == estimator.ModeKeys.PREDICT
      True
    """

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class RunConfig(core_config.RunConfig):
    """How an estimator runs; see `tf.estimator.RunConfig`.

    Args:
      master: target of the sessions; of this task's server by default.
      num_cores: how many threads operations take; 0 for all.
      log_device_placement: whether sessions tell where nodes run.
      gpu_memory_fraction: which part of a GPU's memory is taken.
      tf_random_seed: as the rest: see `tf.estimator.RunConfig`.

    Example:
      >>> contrib.learn.RunConfig(num_cores=2).session_config.intra_op_parallelism_threads
      2
    """

    _read_task = staticmethod(legacy_task_config)
    _session_config: Any

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: Any = core_config.USE_DEFAULT,
        save_checkpoints_steps: Any = core_config.USE_DEFAULT,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        super().__init__(
            model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps,
            save_checkpoints_secs, session_config, keep_checkpoint_max,
            keep_checkpoint_every_n_hours, log_step_count_steps, protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )  # fmt: skip
        if master is not None:
            self._task = self._task._replace(master=master)
        if session_config is None:
            self._session_config = _session_config(
                self._session_config, num_cores, log_device_placement, gpu_memory_fraction
            )

    @property
    def environment(self) -> str:
        """Return where the program runs."""
        return "local"


def _session_config(config: Any, cores: int, tells_placement: bool, memory: float) -> Any:
    """Return a ConfigProto with what a config says of threads, placement and memory."""
    found = pb.ConfigProto(log_device_placement=tells_placement)
    found.inter_op_parallelism_threads = found.intra_op_parallelism_threads = cores
    found.gpu_options.per_process_gpu_memory_fraction = memory
    if config is not None:
        found.MergeFrom(config)
    return found


def ModelFnOps(
    mode: str,
    predictions: Any = None,
    loss: Any = None,
    train_op: Any = None,
    eval_metric_ops: Any = None,
    output_alternatives: Any = None,
    training_chief_hooks: Any = None,
    training_hooks: Any = None,
    scaffold: Any = None,
) -> EstimatorSpec:
    """Return an EstimatorSpec.

    The other arguments are those of `tf.estimator.EstimatorSpec`.

    Args:
      mode: one of `ModeKeys`.
      output_alternatives: not used: a SavedModel gives the predictions.

    Example:
      >>> contrib.learn.ModelFnOps("infer", {"x": constant(1.0)}).mode
      'infer'
    """
    return EstimatorSpec(
        mode, predictions, loss, train_op, eval_metric_ops,
        training_chief_hooks=training_chief_hooks, training_hooks=training_hooks,
        scaffold=scaffold,
    )  # fmt: skip


class Estimator(core.Estimator):
    """A model as a function; see `tf.estimator.Estimator`.

    Args:
      model_fn: function of (features, labels, mode, params, config), or of some of these, to
        `ModelFnOps`, or to predictions, loss and training operation.
      model_dir: folder.
      config: `RunConfig`.
      params: dict for `model_fn`.
      feature_engineering_fn: function of (features, labels) to both, called first.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> def model(features, labels):
      ...     w = get_variable("w", [], initializer=zeros_initializer())
      ...     loss = losses.mean_squared_error(labels, features[:, 0] * w)
      ...     step = contrib.framework.get_global_step()
      ...     return w, loss, train.GradientDescentOptimizer(0.1).minimize(loss, step)
      >>> made = contrib.learn.Estimator(model, tempfile.mkdtemp())
      >>> x, y = np.array([[1.0], [2.0]], np.float32), np.array([2.0, 4.0], np.float32)
      >>> made.fit(x, y, steps=40).get_variable_value("w").round(3)
      np.float32(2.0)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._legacy_model_fn, self._engineer = model_fn, feature_engineering_fn
        if params is not None and "params" not in arguments_of(model_fn):
            raise ValueError(f"model_fn ({model_fn}) does not take params, but there are {params}")
        super().__init__(self._any_names, model_dir, config or RunConfig(), params or {})

    def _any_names(self, features: Any, labels: Any, mode: str, params: Any) -> EstimatorSpec:
        """Call the model function, whose first arguments may have any names."""
        return self._call_model_fn(features, labels, mode)

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        given = {"mode": mode, "params": self.params, "config": self._config}
        known = arguments_of(self._legacy_model_fn)
        named = {name: value for name, value in given.items() if name in known}
        made = self._legacy_model_fn(features, labels, **named)
        if isinstance(made, EstimatorSpec):
            return made
        predictions, loss, train_op = made
        return EstimatorSpec(mode, predictions, loss, train_op)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Iterable[Any] | None = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Train; see `tf.estimator.Estimator.train`.

        Args:
          x: an array of features, instead of `input_fn`.
          y: an array of labels.
          input_fn: gives features and labels.
          steps: how many steps from now.
          batch_size: of arrays.
          monitors: SessionRunHooks.
          max_steps: the global step at which it ends.
        """
        if input_fn is not None and (x is not None or y is not None):
            raise ValueError("Can not provide both input_fn and x or y.")
        given = input_fn or _arrays(x, y, batch_size, None)
        core.Estimator.train(self, given, monitors, steps, max_steps)
        return self

    partial_fit = fit  # training goes on from the latest checkpoint

    def evaluate(  # type: ignore[override]  # as it was then
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Iterable[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Return metrics; see `tf.estimator.Estimator.evaluate`.

        Args:
          x: an array of features, or an input function; instead of `input_fn`.
          y: an array of labels.
          input_fn: as the rest: see `fit`.
          feed_fn: not supported.
          metrics: not supported: the model function gives them.
        """
        if feed_fn is not None or metrics is not None:
            raise NotImplementedError("feed_fn and metrics are the model function's matter here")
        if checkpoint_path is None:
            self._check_fitted()
        given = input_fn or (x if callable(x) else _arrays(x, y, batch_size, 1))
        return super().evaluate(given, steps, hooks, checkpoint_path, name)

    def predict(  # type: ignore[override]  # as it was then
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Return predictions; see `tf.estimator.Estimator.predict`.

        Args:
          x: an array of features, or an input function; instead of `input_fn`.
          input_fn: gives features; once, if `as_iterable` is False.
          batch_size: of arrays.
          outputs: which predictions.
          as_iterable: whether to return an iterator, or arrays of all examples.
          iterate_batches: whether to yield those of each batch, or of each example.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        self._check_fitted()
        given = input_fn or (x if callable(x) else _arrays(x, None, batch_size, 1))
        single = as_iterable and not iterate_batches
        found = super().predict(given, outputs, yield_single_examples=single)
        if as_iterable:
            return found
        return next(found) if x is None or callable(x) else _joined(list(found))

    def _check_fitted(self) -> None:
        if not self.latest_checkpoint():
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")


def _joined(batches: list[Any]) -> Any:
    """Return the predictions of all batches, one after the other."""
    if not isinstance(batches[0], dict):
        return np.concatenate(batches)
    return {name: np.concatenate([each[name] for each in batches]) for name in batches[0]}


def _arrays(x: Any, y: Any, batch_size: int | None, epochs: int | None) -> Callable[[], Any]:
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    size = batch_size or _length(x)
    return numpy_input_fn(x, y, size, epochs, shuffle=False)


def _length(x: Any) -> int:
    return len(next(iter(x.values())) if isinstance(x, dict) else x)


class SKCompat:
    """An estimator of tf.contrib.learn with the methods of scikit-learn's.

    Args:
      estimator: `Estimator`.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> x, y = np.array([[-1.0], [5.0]], np.float32), np.array([0, 1])
      >>> columns = contrib.learn.infer_real_valued_columns_from_input(x)
      >>> inner = contrib.learn.LinearClassifier(columns, tempfile.mkdtemp())
      >>> contrib.learn.SKCompat(inner).fit(x, y, steps=9).predict(x)["classes"]
      array([0, 1])
      >>> summary.FileWriterCache.clear()
    """

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def fit(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None,
        max_steps: int | None = None, monitors: Any = None,
    ) -> SKCompat:  # fmt: skip
        """Train on arrays; see `Estimator.fit`."""
        size = min(batch_size, _length(x))
        self._estimator.fit(
            x, y, steps=steps, batch_size=size, monitors=monitors, max_steps=max_steps
        )
        return self

    def score(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None,
        metrics: None = None, name: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return metrics of arrays; see `Estimator.evaluate`."""
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """Return predictions of an array, as arrays; see `Estimator.predict`."""
        return Estimator.predict(
            self._estimator, x, batch_size=batch_size, outputs=outputs, as_iterable=False
        )

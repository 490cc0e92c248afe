"""Estimator: a model as a function, trained, evaluated and asked, in graphs of its own.

Source: TF 1.15 API documentation, tf.estimator.Estimator; messages by experiment.
"""

from __future__ import annotations

import copy
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfdist.errors import NotFoundError
from tfdist.estimators.estimator_spec import EstimatorSpec
from tfdist.estimators.evaluating import (
    eval_folder,
    evaluate_model,
    write_checkpoint_path,
    write_results,
)
from tfdist.estimators.export.export_dir import export_model
from tfdist.estimators.model_calls import call_model_fn, check_hooks, check_model_fn
from tfdist.estimators.predicting import predict_model
from tfdist.estimators.run_config import RunConfig, default_session_config
from tfdist.estimators.training import train_model
from tfdist.estimators.warm_starting import warm_start_settings
from tfdist.graph.graph import Graph
from tfdist.training.global_step import create_global_step
from tfdist.training.replicas.device_setter import STATE_OPS, replica_device_setter
from tfdist.training.saving.checkpoint_management import latest_checkpoint
from tfdist.training.saving.checkpoint_utils import list_variables, load_checkpoint, load_variable
from tfdist.training.sessions.saving_hooks import CheckpointSaverListener
from tfdist.training.sessions.step_hooks import StopAtStepHook

__all__ = ["Estimator"]

_LOG = logging.getLogger("tensorflow")
_OPEN = {"_call_model_fn", "_create_global_step", "__init__"}  # what subclasses may change


class Estimator:
    """A model as a function, trained, evaluated and asked, each time in a graph of its own.

    What it has learned stands in the checkpoints of its folder: programs one after the other, and
    the tasks of a cluster, work on the same model if they name the same folder.

    Args:
      model_fn: function of (features, labels, mode, params, config), or of some of these, to an
        `EstimatorSpec`.
      model_dir: folder; one for the moment by default.
      config: `RunConfig`.
      params: dict for `model_fn`.
      warm_start_from: a checkpoint's path, or `WarmStartSettings`: what variables begin with.

    Raises:
      ValueError: `model_fn` takes other arguments, there are two folders, or the config is none.

    Example:
      >>> import tempfile
      >>> def model(features, labels, mode):
      ...     guess = layers.dense(features, 1, name="guess")
      ...     loss = losses.mean_squared_error(labels, guess)
      ...     step = train.get_global_step()
      ...     train_op = train.AdamOptimizer(0.5).minimize(loss, step)
      ...     return estimator.EstimatorSpec(mode, guess, loss, train_op)
      >>> def rows():
      ...     return data.Dataset.from_tensors(([[1.0], [2.0]], [[3.0], [5.0]])).repeat()
      >>> made = estimator.Estimator(model, tempfile.mkdtemp())
      >>> _ = made.train(rows, steps=50)
      >>> made.evaluate(rows, steps=1)["loss"] < 1.0
      np.True_
      >>> made.get_variable_names()
      ['beta1_power', 'beta2_power', 'global_step', 'guess/bias', ... 'guess/kernel/Adam_1']
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        self._check_overridden()
        self._config = resolved_config(config, model_dir)
        self._session_config = self._config.session_config or default_session_config()
        if self._config.session_config is None:
            self._config = self._config.replace(session_config=self._session_config)
        _LOG.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or _device_fn(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = warm_start_settings(warm_start_from)

    def _check_overridden(self) -> None:
        changed = {
            name
            for kind in type(self).__mro__
            if not kind.__module__.startswith("tfdist.estimators") and kind is not object
            for name in vars(kind)
            if name in vars(Estimator) and name not in _OPEN and not name.startswith("__")
        }
        if changed:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {type(self)} does "
                f"override {sorted(changed)}"
            )

    @property
    def model_dir(self) -> str:
        """Return the folder of checkpoints and summaries."""
        return self._config.model_dir  # type: ignore[no-any-return]

    @property
    def config(self) -> RunConfig:
        """Return the RunConfig."""
        return self._config

    @property
    def params(self) -> Any:
        """Return a copy of what `model_fn` is given as `params`."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """Return a function of (features, labels, mode, config) that calls `model_fn`."""

        def public(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return call_model_fn(self._model_fn, features, labels, mode, self.params, config)

        return public

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        return call_model_fn(self._model_fn, features, labels, mode, self.params, self._config)

    def _create_global_step(self, graph: Graph) -> Any:
        """Return a new global step of a graph of the model; subclasses may have another."""
        return create_global_step(graph)

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> Estimator:
        """Train, from the latest checkpoint on; returns the estimator itself.

        Args:
          input_fn: gives a Dataset, or (features, labels); may take `mode`, `params`, `config`.
          hooks: SessionRunHooks.
          steps: how many steps from now; None until the data end.
          max_steps: the global step at which it ends, instead of `steps`.
          saving_listeners: CheckpointSaverListeners.

        Raises:
          ValueError: `steps` and `max_steps` are given, or one is not positive.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        _check_positive("steps", steps)
        _check_positive("max_steps", max_steps)
        if max_steps is not None and self._saved_step() >= max_steps:
            _LOG.info("Skipping training since max_steps has already saved.")
            return self
        found = check_hooks(hooks)
        if steps is not None or max_steps is not None:
            found.append(StopAtStepHook(steps, max_steps))
        loss = train_model(self, input_fn, found, _listeners(saving_listeners))
        if loss is not None:
            _LOG.info("Loss for final step: %s.", loss)
        return self

    def _saved_step(self) -> int:
        """Return the global step of the latest checkpoint, 0 if there is none."""
        path = self.latest_checkpoint()
        try:
            return int(load_checkpoint(path).get_tensor("global_step")) if path else 0
        except NotFoundError:
            return 0

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Return the metrics of a checkpoint, and write them as a summary.

        Args:
          input_fn: see `train`.
          steps: how many batches; None until the data end.
          hooks: SessionRunHooks.
          checkpoint_path: which; the latest by default. New variables where there is none.
          name: of the evaluation, if there are several: their summaries go to `eval_NAME`.

        Raises:
          ValueError: `steps` is not positive.
        """
        _check_positive("steps", steps)
        found = check_hooks(hooks)
        path = checkpoint_path or self._trained("evaluate")
        results = evaluate_model(self, input_fn, found, steps, path)
        write_results(self.eval_dir(name), results)
        write_checkpoint_path(self.eval_dir(name), int(results["global_step"]), path)
        return results

    def _trained(self, what: str) -> str | None:
        path = self.latest_checkpoint()
        if not path:
            _LOG.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self.model_dir, what,
            )  # fmt: skip
        return path

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: str | Sequence[str] | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yield predictions until the data end.

        Args:
          input_fn: see `train`; labels are left out.
          predict_keys: which predictions; all by default.
          hooks: SessionRunHooks.
          checkpoint_path: which; the latest by default. New variables where there is none.
          yield_single_examples: whether to yield those of each example, or of each batch.

        Raises:
          ValueError: there are no predictions of these names, or batches differ in length.
        """
        found = check_hooks(hooks)
        path = checkpoint_path or self._trained("predict")
        yield from predict_model(self, input_fn, predict_keys, found, path, yield_single_examples)

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Write the model as a SavedModel into a new folder; returns its path.

        Args:
          export_dir_base: folder for exports.
          serving_input_receiver_fn: makes a `tf.estimator.export.ServingInputReceiver`.
          assets_extra: further files: paths inside the model's folder -> files.
          as_text: whether the model's file is text.
          checkpoint_path: which; the latest by default.
          strip_default_attrs: whether attributes that have their default are left out.

        Raises:
          ValueError: there is no function, or no checkpoint.
        """
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        return export_model(
            self, os.fsdecode(export_dir_base), serving_input_receiver_fn, assets_extra, as_text,
            path, strip_default_attrs,
        )  # fmt: skip

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Do as `export_savedmodel`, without attributes that have their default."""
        return self.export_savedmodel(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path, True
        )

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables in the latest checkpoint.

        Raises:
          ValueError: there is none.
        """
        self._needed_checkpoint()
        return [name for name, _ in list_variables(self.model_dir)]

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable in the latest checkpoint, an array.

        Raises:
          ValueError: there is no checkpoint.
          NotFoundError: there is no such variable.
        """
        self._needed_checkpoint()
        return load_variable(self.model_dir, name)

    def _needed_checkpoint(self) -> str:
        path = self.latest_checkpoint()
        if not path:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return path

    def latest_checkpoint(self) -> str | None:
        """Return the path of the latest checkpoint, None if there is none."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """Return the folder of the summaries of an evaluation."""
        return eval_folder(self.model_dir, name)


def resolved_config(config: Any, model_dir: str | None) -> RunConfig:
    """Return the config with the folder that was named, or with a new one for the moment."""
    if config is None:
        _LOG.info("Using default config.")
        config = RunConfig()
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    folder = os.fspath(model_dir) if model_dir is not None else None
    if folder is not None and config.model_dir not in (None, folder):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{folder}', in `RunConfig`: '{config.model_dir}' "
        )
    folder = folder or config.model_dir
    if folder is None:
        folder = tempfile.mkdtemp()
        _LOG.warning("Using temporary folder as model directory: %s", folder)
    return config.replace(model_dir=folder)


def _device_fn(config: RunConfig) -> Any:
    """Return what places nodes: variables on parameter servers, the rest on this task."""
    if not config.num_ps_replicas:
        return None
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        merge_devices=True,
        ps_ops=list(STATE_OPS),
        cluster=config.cluster_spec,
    )


def _check_positive(name: str, number: int | None) -> None:
    if number is not None and number <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {number}")


def _listeners(given: Iterable[Any] | None) -> list[Any]:
    found = list(given or ())
    for each in found:
        if not isinstance(each, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {each}"
            )
    return found

"""TPUEstimator: programs that are written for TPUs, on CPUs.

Source: TF 1.15 API documentation, tf.contrib.tpu.TPUEstimator; messages by experiment.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfdist.estimators import estimator as core
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.estimators.model_calls import arguments_of
from tfdist.estimators.tpu.config import RunConfig
from tfdist.estimators.tpu.spec import TPUEstimatorSpec
from tfdist.graph.graph import Graph
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope
from tfdist.protos import pb
from tfdist.training.global_step import create_global_step
from tfdist.training.sessions.step_hooks import StepCounterHook

__all__ = ["TPUEstimator"]

_LOG = logging.getLogger("tensorflow")
_RESERVED = ["batch_size", "context"]
_ASK = 'required by TPUEstimator to pass batch size as params["batch_size"]'


class TPUEstimator(core.Estimator):
    """A model as a function whose `params["batch_size"]` differs by what it is called for.

    There are no TPUs here: pass `use_tpu=False`. The model function's `params["use_tpu"]` is False.

    Args:
      model_fn: function of (features, labels, mode, params, config), or of some of these and
        `params`, to a `TPUEstimatorSpec` or an EstimatorSpec.
      model_dir: folder.
      config: `tf.contrib.tpu.RunConfig`.
      params: dict for `model_fn` and the input functions, without "batch_size" and "context".
      use_tpu: whether it should run on TPUs.
      train_batch_size: of a batch in training.
      eval_batch_size: of one in evaluation.
      predict_batch_size: of one in prediction.
      batch_axis: accepted.
      eval_on_tpu: whether evaluation should run on TPUs too.
      export_to_tpu: accepted: models are exported for CPUs.
      export_to_cpu: accepted.
      warm_start_from: a checkpoint's path, or `WarmStartSettings`.
      embedding_config_spec: not supported.
      export_saved_model_api_version: accepted.

    Raises:
      ValueError: the config is none of this namespace's, or `params` has a reserved key.
      RuntimeError: later, where something should run on TPUs.

    Example:
      >>> import tempfile
      >>> def model(features, labels, mode, params):
      ...     w = get_variable("w", [])
      ...     step = train.get_global_step()
      ...     train_op = train.AdamOptimizer(0.5).minimize(w * w, step)
      ...     return contrib.tpu.TPUEstimatorSpec(mode, features, w * w, train_op)
      >>> def rows(params):
      ...     return data.Dataset.range(6).batch(params["batch_size"])
      >>> config = contrib.tpu.RunConfig(model_dir=tempfile.mkdtemp())
      >>> made = contrib.tpu.TPUEstimator(
      ...     model, config=config, use_tpu=False, train_batch_size=2, predict_batch_size=4
      ... )
      >>> made.train(rows, steps=3).get_variable_value("global_step")
      np.int64(3)
      >>> [len(batch) for batch in made.predict(rows, yield_single_examples=False)]
      [4, 2]
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if any(key in (params or ()) for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if embedding_config_spec is not None:
            raise NotImplementedError("tfdist has no embeddings on TPUs: pass none")
        if "params" not in arguments_of(model_fn):
            raise ValueError(f"model_fn ({model_fn}) does not include params argument, {_ASK}")
        self._sizes = {
            ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }  # fmt: skip
        self._wants_tpu, self._evaluates_there = use_tpu, eval_on_tpu
        super().__init__(model_fn, model_dir, config, params or {}, warm_start_from)

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        found = arguments_of(self._model_fn)
        params = self._sized(mode, use_tpu=False)
        given = {"labels": labels, "mode": mode, "params": params, "config": self._config}
        named = {name: value for name, value in given.items() if name in found}
        made = self._model_fn(features, **named)
        spec = made.as_estimator_spec() if isinstance(made, TPUEstimatorSpec) else made
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return a TPUEstimatorSpec or an EstimatorSpec.")
        return self._with_speed(spec) if mode == ModeKeys.TRAIN else spec

    def _create_global_step(self, graph: Graph) -> Any:
        """Return a new global step of a graph, a ResourceVariable as TPUs need them."""
        with graph.as_default(), variable_scope(get_variable_scope(), use_resource=True):
            return create_global_step(graph)

    def _with_speed(self, spec: EstimatorSpec) -> EstimatorSpec:
        """Return a spec that tells how many examples pass in a second, if sizes are known."""
        size, steps = self._sizes[ModeKeys.TRAIN], self._config.log_step_count_steps
        if size is None or steps is None or not self._config.is_chief:
            return spec
        hook = _ExamplesPerSecondHook(size, steps, output_dir=self.model_dir)
        return spec._replace(training_hooks=[*spec.training_hooks, hook])

    def _sized(self, mode: str, **more: Any) -> Any:
        """Return `params` with the size of a batch, and more."""
        size = self._sizes[mode]
        added = more if size is None else {"batch_size": size, **more}
        if isinstance(self._params, Mapping):
            return {**self.params, **added}
        params = copy.deepcopy(self._params)
        for name, value in added.items():
            params.add_hparam(name, value)
        return params

    def _input(self, input_fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return an input function that is told the size of a batch."""
        found = arguments_of(input_fn)
        if "params" not in found:
            raise ValueError(f"input_fn ({input_fn}) does not include params argument, {_ASK}")

        def sized(mode: str, config: Any) -> Any:
            given = {"mode": mode, "params": self._sized(mode), "config": config}
            return input_fn(**{name: value for name, value in given.items() if name in found})

        return sized

    def _check_place(self, mode: str) -> None:
        """Raise an error if something should run on TPUs."""
        if not self._wants_tpu or (mode == ModeKeys.EVAL and not self._evaluates_there):
            return
        if self._sizes[mode] is None:
            names = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "eval", ModeKeys.PREDICT: "predict"}
            raise ValueError(f"`{names[mode]}_batch_size` cannot be `None`")
        raise RuntimeError(
            "Cannot find any TPU cores in the system: tfdist has none. Pass use_tpu=False to run "
            "on CPUs."
        )

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> TPUEstimator:
        """Train; see `tf.estimator.Estimator.train`. `input_fn` takes `params`."""
        self._check_place(ModeKeys.TRAIN)
        super().train(self._input(input_fn), hooks, steps, max_steps, saving_listeners)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Return metrics; see `tf.estimator.Estimator.evaluate`. `input_fn` takes `params`."""
        self._check_place(ModeKeys.EVAL)
        return super().evaluate(self._input(input_fn), steps, hooks, checkpoint_path, name)

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: str | Sequence[str] | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yield predictions; see `tf.estimator.Estimator.predict`. `input_fn` takes `params`."""
        self._check_place(ModeKeys.PREDICT)
        yield from super().predict(
            self._input(input_fn), predict_keys, hooks, checkpoint_path, yield_single_examples
        )


class _ExamplesPerSecondHook(StepCounterHook):
    """Logs how many examples pass in a second, and writes it as a summary."""

    def __init__(self, batch_size: int, *args: Any, **kwargs: Any) -> None:
        self._batch_size = batch_size
        super().__init__(*args, **kwargs)

    def _log_and_record(self, elapsed_steps: Any, elapsed_time: float, global_step: int) -> None:
        steps = elapsed_steps / elapsed_time if elapsed_time else float("inf")
        speed = steps * self._batch_size
        if self._writer is not None:
            value = pb.Summary.Value(tag="examples/sec", simple_value=speed)
            self._writer.add_summary(pb.Summary(value=[value]), global_step)
        _LOG.info("examples/sec: %g", speed)

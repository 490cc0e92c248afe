"""Compiling: what a model is trained for, and the steps that `compile` makes of it.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.keras_impl.engine.training.losses import Goal, add_metrics, goals, loss_object
from tfdist.keras_impl.engine.training.steps import Steps
from tfdist.keras_impl.optimizers import optimizers

_NOT_COMPILED = (
    "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
)


class Compiled:
    """A network with a loss to lower, and the optimizer and metrics for that."""

    inputs: list[Any]
    outputs: list[Any]
    input_names: list[str]
    output_names: list[str]
    optimizer: Any = None
    loss: Any = None
    _settings: dict[str, Any] | None = None  # what compile got
    _made_steps: Any = None
    _users: Any = None  # of a model that is not compiled: what predicts

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

    def _predicting(self) -> Callable[..., Any]:
        if self._users is None or self._users.model is not self:
            self._users = Steps.without_goals(self)
        return self._users.function("predict")  # type: ignore[no-any-return]

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

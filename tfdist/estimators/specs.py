"""TrainSpec and EvalSpec: what `train_and_evaluate` trains and evaluates, and exporters.

Source: TF 1.15 API documentation, tf.estimator.TrainSpec, EvalSpec and Exporter; messages by
experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfdist.training.sessions.session_run_hook import SessionRunHook

__all__ = ["EvalSpec", "Exporter", "TrainSpec"]


class Exporter:
    """What is done with a model after an evaluation; for subclasses.

    Example:
      >>> class Told(estimator.Exporter):
      ...     name = "told"
      ...
      ...     def export(self, estimator, export_path, checkpoint_path, eval_result, is_final):
      ...         print(export_path, eval_result["loss"])
      >>> estimator.EvalSpec(lambda: None, exporters=Told()).exporters[0].name
      'told'
    """

    @property
    def name(self) -> str:
        """Return the name, that of a folder."""
        raise NotImplementedError

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Do something with a model.

        Args:
          estimator: Estimator.
          export_path: folder for what is made.
          checkpoint_path: of the model.
          eval_result: dict of its metrics.
          is_the_final_export: whether training has ended.

        Returns:
          Path of what was made, None if nothing was.
        """
        raise NotImplementedError


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]


class TrainSpec(_TrainFields):
    """What is trained.

    Args:
      input_fn: gives a Dataset, or (features, labels).
      max_steps: the global step at which training ends; by default when the data end.
      hooks: SessionRunHooks.

    Raises:
      ValueError: `max_steps` is not positive.
      TypeError: something is of the wrong type.

    Example:
      >>> estimator.TrainSpec(lambda: None, max_steps=100).max_steps
      100
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[Any] | None = None,
    ) -> TrainSpec:
        """Return a spec, checked."""
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """What is evaluated, and how often.

    Args:
      input_fn: gives a Dataset, or (features, labels).
      steps: how many batches; None until the data end.
      name: of the evaluation, if there are several.
      hooks: SessionRunHooks.
      exporters: an `Exporter`, or several.
      start_delay_secs: how long an evaluator waits before it begins.
      throttle_secs: seconds at least between the beginnings of two evaluations.

    Raises:
      ValueError: a number is too small.
      TypeError: something is of the wrong type.

    Example:
      >>> spec = estimator.EvalSpec(lambda: None)
      >>> spec.steps, spec.start_delay_secs, spec.throttle_secs
      (100, 120, 600)
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Return a spec, checked."""
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for what, seconds in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if seconds < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {seconds}")
        return super().__new__(
            cls, input_fn, steps, name, _checked_hooks(hooks), _checked_exporters(exporters),
            start_delay_secs, throttle_secs,
        )  # fmt: skip


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return found


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    """Return exporters as a tuple.

    Raises:
      TypeError: they are none.
      ValueError: two have one name.
    """
    if exporters is None:
        return ()
    given = (exporters,) if isinstance(exporters, Exporter) else exporters
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(each, Exporter) for each in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{exporters}."
        )
    names = [each.name for each in found]
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"An Exporter must have a name that is not empty, found {name!r}")
        if names.count(name) > 1:
            raise ValueError(
                f"`exporters` must have unique names. Such a name cannot be None. All names {names}"
            )
    return found

"""Calls of what users write: model functions and input functions, with the arguments they take.

Source: TF 1.15 API documentation, tf.estimator.Estimator; messages by experiment.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from tfdist.datasets.dataset import Dataset
from tfdist.datasets.iterators import make_initializable_iterator
from tfdist.estimators.distributing import batches, input_context
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.graph import scopes
from tfdist.training.sessions.session_run_hook import SessionRunHook

__all__: list[str] = []

_LOG = logging.getLogger("tensorflow")
_POSSIBLE = ("features", "labels", "mode", "params", "self", "config")


def arguments_of(function: Any) -> tuple[str, ...]:
    """Return the names of the arguments that a call may give a function by name."""
    while isinstance(function, functools.partial):
        rest = arguments_of(function.func)[len(function.args) :]
        return tuple(name for name in rest if name not in (function.keywords or {}))
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in kinds)


def check_model_fn(model_fn: Any, params: Any) -> None:
    """Raise ValueError if a model function cannot be called with what estimators have."""
    found = arguments_of(model_fn)
    if "features" not in found:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in found:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and "params" in found:
        _LOG.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.", model_fn,
        )  # fmt: skip
    unknown = [name for name in found if name not in _POSSIBLE]
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")


def call_model_fn(
    model_fn: Callable[..., Any], features: Any, labels: Any, mode: str, params: Any, config: Any
) -> EstimatorSpec:
    """Return what a model function makes of its inputs.

    Raises:
      ValueError: it takes no labels, but there are some; or it returns no EstimatorSpec.
    """
    found = arguments_of(model_fn)
    given = {"labels": labels, "mode": mode, "params": params, "config": config}
    if "labels" not in found and labels is not None:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    _LOG.info("Calling model_fn.")
    named = {name: value for name, value in given.items() if name in found}
    spec = model_fn(features=features, **named)
    _LOG.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError("model_fn should return an EstimatorSpec.")
    return spec


class DatasetInitializerHook(SessionRunHook):
    """Begins a dataset anew in each session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        """Take what begins it."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Initialize the iterator of the new session."""
        session.run(self._initializer)


def call_input_fn(
    input_fn: Callable[..., Any], mode: str, params: Any, config: Any, strategy: Any = None
) -> tuple[Any, list[Any]]:
    """Return (features, labels), those of each replica with a strategy, and the input's hooks.

    Raises:
      ValueError: what it returns is neither features nor (features, labels).
    """
    found = arguments_of(input_fn)
    given = {"mode": mode, "params": params, "config": config,
             "input_context": input_context(strategy)}  # fmt: skip
    with scopes.device("/cpu:0"):
        made = input_fn(**{name: value for name, value in given.items() if name in found})
    hooks: list[Any] = []
    if isinstance(made, Dataset):
        iterator = make_initializable_iterator(made)
        hooks.append(DatasetInitializerHook(iterator))
        return batches(strategy, lambda: _pair(iterator.get_next(), mode)), hooks
    return _pair(made, mode), hooks


def _pair(made: Any, mode: str) -> tuple[Any, Any]:
    """Return features and labels, which are left out to predict; one thing has no labels."""
    if not isinstance(made, list | tuple):
        return made, None
    if len(made) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return made[0], (None if mode == ModeKeys.PREDICT else made[1])


def check_hooks(hooks: Any) -> list[Any]:
    """Return hooks as a list; TypeError if one is no SessionRunHook."""
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found

"""RunConfig: how an estimator runs: where, how often it saves, and what the process is.

Source: TF 1.15 API documentation, tf.estimator.RunConfig; messages by experiment.
"""

from __future__ import annotations

import copy
import inspect
import logging
import os
from collections.abc import Callable
from typing import Any

from tfdist.estimators.task_config import (
    TaskConfig,
    TaskType,
    legacy_task_config,
    task_config,
)
from tfdist.protos import pb

__all__ = ["RunConfig"]

USE_DEFAULT: Any = object()
SAVE_SECS = 600

_LOG = logging.getLogger("tensorflow")


def _not_negative(value: Any) -> bool:
    return value is None or value >= 0


def _positive(value: Any) -> bool:
    return value is None or value > 0


def _takes_an_op(function: Any) -> bool:
    if function is None:
        return True
    if not callable(function):
        return False
    return list(inspect.signature(function).parameters)[-1:] == ["op"]


# Property -> whether a value will do, and what it should be.
_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (lambda value: value != "", "should be non-empty"),
    "tf_random_seed": (lambda value: value is None or isinstance(value, int), "must be integer."),
    "save_summary_steps": (_not_negative, "should be >= 0"),
    "save_checkpoints_steps": (_not_negative, "should be >= 0"),
    "save_checkpoints_secs": (_not_negative, "should be >= 0"),
    "session_config": (
        lambda value: value is None or hasattr(value, "device_filters"),
        "must be instance of ConfigProto",
    ),
    "keep_checkpoint_max": (_not_negative, "should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda value: value > 0, "should be > 0"),
    "log_step_count_steps": (_positive, "should be > 0"),
    "train_distribute": (lambda value: True, ""),
    "device_fn": (_takes_an_op, 'must be callable with exactly one argument "op".'),
    "protocol": (
        lambda value: value in (None, "grpc", "grpc+verbs"), "should be grpc or grpc+verbs",
    ),
    "eval_distribute": (lambda value: True, ""),
    "experimental_distribute": (lambda value: True, ""),
    "experimental_max_worker_delay_secs": (lambda value: True, ""),
    "session_creation_timeout_secs": (_positive, "should be > 0"),
}  # fmt: skip


class RunConfig:
    """How an estimator runs; what the process is in its cluster comes from TF_CONFIG.

    Args:
      model_dir: folder for checkpoints and summaries.
      tf_random_seed: seed of the graphs.
      save_summary_steps: global steps between two summaries.
      save_checkpoints_steps: global steps between two checkpoints; excludes seconds.
      save_checkpoints_secs: seconds between two checkpoints; 600 by default, None for none.
      session_config: ConfigProto of the sessions.
      keep_checkpoint_max: how many checkpoints stay; None or 0 for all.
      keep_checkpoint_every_n_hours: of those that would be removed, one in this time stays.
      log_step_count_steps: global steps between two lines of the log.
      train_distribute: a `tf.distribute.Strategy` for training.
      device_fn: function from an Operation to its device, instead of `replica_device_setter`.
      protocol: of the servers.
      eval_distribute: a strategy for evaluation.
      experimental_distribute: both, as a `tf.contrib.distribute.DistributeConfig`.
      experimental_max_worker_delay_secs: how long workers wait at most before they begin.
      session_creation_timeout_secs: how long workers wait for the chief.

    Raises:
      ValueError: a value makes no sense, or TF_CONFIG does not.
      NotImplementedError: the workers are a `remote_cluster`.

    Example:
      >>> config = estimator.RunConfig(save_checkpoints_steps=100)
      >>> config.task_type, config.is_chief, config.save_checkpoints_secs
      ('worker', True, None)
      >>> config.replace(save_checkpoints_secs=60).save_checkpoints_steps is None
      True
    """

    def __init__(
        self,
        model_dir: str | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = USE_DEFAULT,
        save_checkpoints_secs: float | None = USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], Any] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: float | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _CHECKS}
        told = os.environ.get("TF_CONFIG")
        if told:
            _LOG.info("TF_CONFIG environment variable: %s", told)
        is_distributed = train_distribute is not None or experimental_distribute is not None
        read = legacy_task_config if is_distributed else self._read_task
        task = read(told)  # with a strategy, worker 0 may be the chief
        given["save_checkpoints_steps"], given["save_checkpoints_secs"] = _intervals(
            save_checkpoints_steps, save_checkpoints_secs
        )
        given["model_dir"] = _folder(model_dir, task.model_dir)
        if session_config is None:
            given["session_config"] = _filtered(task)
        self._task = task
        self._set(given)

    _read_task = staticmethod(task_config)

    def _set(self, given: dict[str, Any]) -> None:
        for name, value in given.items():
            is_good, wanted = _CHECKS[name]
            if not is_good(value):
                raise ValueError(f"{name} {wanted}")
            setattr(self, f"_{name}", value)
        self._distribute(given)

    def _distribute(self, given: dict[str, Any]) -> None:
        """Take the strategies: both from `experimental_distribute`, if that has them."""
        both = given.get("experimental_distribute")
        if getattr(both, "remote_cluster", None):
            raise NotImplementedError(
                "remote_cluster is not supported: name the cluster in TF_CONFIG, and start the "
                "program once for each of its tasks"
            )
        for name in ("train_distribute", "eval_distribute"):
            if both is not None and getattr(both, name) is not None:
                if given.get(name) is not None:
                    raise ValueError(
                        f"Either `experimental_distribute.{name}` or `{name}` can be set."
                    )
                setattr(self, f"_{name}", getattr(both, name))

    def replace(self, **kwargs: Any) -> RunConfig:
        """Return a copy with other values.

        Raises:
          ValueError: a property is none of those that can be replaced, or a value makes no sense.
        """
        for name in kwargs:
            if name not in _CHECKS:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {list(_CHECKS)}."
                )
        both = "save_checkpoints_steps", "save_checkpoints_secs"
        if any(name in kwargs for name in both):
            _intervals(*(kwargs.get(name, USE_DEFAULT) for name in both))
            kwargs = {**dict.fromkeys(both), **kwargs}
        copied = copy.copy(self)
        copied._set(kwargs)
        return copied

    def __getattr__(self, name: str) -> Any:
        """Return a property that was given, or what TF_CONFIG says of the task."""
        if name in _CHECKS and f"_{name}" in vars(self):
            return vars(self)[f"_{name}"]
        if name in TaskConfig._fields and "_task" in vars(self):
            return getattr(self._task, name)
        raise AttributeError(f"RunConfig has no {name!r}", name=name, obj=self)

    @property
    def evaluation_master(self) -> str:
        """Return the target of the sessions that evaluate: always one of this process."""
        return ""


def _intervals(steps: Any, seconds: Any) -> tuple[Any, Any]:
    """Return steps and seconds between two checkpoints, None for the one that was not given."""
    if steps is USE_DEFAULT and seconds is USE_DEFAULT:
        return None, SAVE_SECS
    steps, seconds = (None if each is USE_DEFAULT else each for each in (steps, seconds))
    if steps is not None and seconds is not None:
        raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
    return steps, seconds


def _folder(given: str | None, told: str | None) -> str | None:
    if given and told and given != told:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
            f'model_dir in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {told}.\n'
        )
    return told if given is None else given


# Role -> the tasks that its sessions need: no trainer waits for another one.
_NEEDED_TASKS = {
    TaskType.CHIEF: ("/job:ps", "/job:chief"),
    TaskType.MASTER: ("/job:ps", "/job:master"),
    TaskType.WORKER: ("/job:ps", "/job:worker/task:{}"),
    TaskType.PS: ("/job:ps", "/job:worker", "/job:chief", "/job:master"),
}


def _filtered(task: TaskConfig) -> Any:
    """Return the ConfigProto of a task of a cluster; None for one alone."""
    if not task.cluster_spec.jobs or task.task_type not in _NEEDED_TASKS:
        return None
    config = default_session_config()
    for each in _NEEDED_TASKS[task.task_type]:
        config.device_filters.append(each.format(task.task_id))
    return config


def default_session_config() -> Any:
    """Return the ConfigProto that estimators use where none is given."""
    config = pb.ConfigProto(allow_soft_placement=True)
    rewriting = config.graph_options.rewrite_options
    rewriting.meta_optimizer_iterations = type(rewriting).ONE
    return config

"""How an estimator of tf.contrib.tpu runs: TPUConfig, InputPipelineConfig and RunConfig.

There are no TPUs here: what is said of them is checked and kept, and programs run on CPUs.

Source: TF 1.15 API documentation, tf.contrib.tpu; rules and messages by experiment.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tfdist.estimators import run_config as core_config

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig"]

_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """How often an input function is called for the parts of a TPU.

    Attributes:
      PER_SHARD_V1: once for each core.
      PER_HOST_V1: once for each host.
      PER_HOST_V2: once for each host, for a Dataset.
      BROADCAST: once.
      SLICED: once, and its batches are sliced.

    Example:
      >>> contrib.tpu.InputPipelineConfig.PER_HOST_V2
      3
    """

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _TPUFields(NamedTuple):
    iterations_per_loop: Any
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_TPUFields):
    """What is said of TPUs; checked and kept.

    Args:
      iterations_per_loop: steps of one call of a session, or a time, such as "10m".
      num_shards: how many replicas there are.
      num_cores_per_replica: how many cores each has.
      per_host_input_for_training: one of `InputPipelineConfig`; True is PER_HOST_V1, False
        PER_SHARD_V1.
      tpu_job_name: job of the TPUs.
      initial_infeed_sleep_secs: how long the input waits.
      input_partition_dims: into how many parts each dimension of an input is cut.
      eval_training_input_configuration: PER_HOST_V1 or SLICED.
      experimental_host_call_every_n_steps: steps between two calls of `host_call`.

    Raises:
      ValueError: a value makes no sense.

    Example:
      >>> contrib.tpu.TPUConfig(num_shards=8).per_host_input_for_training
      2
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        """Return what is said, checked."""
        _check_iterations(iterations_per_loop)
        _check_positive("num_shards", num_shards)
        _check_positive("initial_infeed_sleep_secs", initial_infeed_sleep_secs)
        way = _pipeline(per_host_input_for_training)
        if input_partition_dims is not None and way != InputPipelineConfig.PER_HOST_V2:
            raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            raise ValueError(
                f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got "
                f"{num_cores_per_replica}"
            )
        evaluated = InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED
        if eval_training_input_configuration not in evaluated:
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        return super().__new__(
            cls, iterations_per_loop, num_shards, num_cores_per_replica, way, tpu_job_name,
            initial_infeed_sleep_secs, input_partition_dims, eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )  # fmt: skip


def _pipeline(given: Any) -> int:
    if given is True:
        return InputPipelineConfig.PER_HOST_V1
    if given is False:
        return InputPipelineConfig.PER_SHARD_V1
    return int(given)


def _check_iterations(given: Any) -> None:
    found = re.fullmatch(r"([0-9]+)[smh]?", str(given))
    if not found or int(found[1]) <= 0:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value "
            f"or a time, a positive integer and `s`, `m` or `h`, such as `10m`; got {given!r}"
        )


def _check_positive(name: str, given: int | None) -> None:
    if given is not None and given <= 0:
        raise ValueError(f"TPUConfig {name} must be positive, got {given}")


class RunConfig(core_config.RunConfig):
    """How an estimator runs, and what is said of TPUs; see `tf.estimator.RunConfig`.

    Args:
      tpu_config: `TPUConfig`.
      evaluation_master: target of the sessions that evaluate; `master` by default.
      master: target of the sessions; of this task's server by default.
      cluster: ClusterResolver that knows the target, instead of `master`.
      kwargs: see `tf.estimator.RunConfig`.

    Raises:
      ValueError: there are both `master` and `cluster`, or a value makes no sense.

    Example:
      >>> config = contrib.tpu.RunConfig(tpu_config=contrib.tpu.TPUConfig(100))
      >>> config.replace(save_checkpoints_steps=50).tpu_config.iterations_per_loop
      100
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        target = cluster.master() if cluster is not None else master
        if target is not None:
            self._task = self._task._replace(master=target)
        self._evaluation_master = evaluation_master

    @property
    def tpu_config(self) -> TPUConfig:
        """Return what is said of TPUs."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """Return the ClusterResolver, None if there is none."""
        return self._cluster

    @property
    def evaluation_master(self) -> str:
        """Return the target of the sessions that evaluate."""
        told = self._evaluation_master
        return self.master if told is None else told  # type: ignore[no-any-return]

    def replace(self, **kwargs: Any) -> RunConfig:
        """Return a copy with other values; see `tf.estimator.RunConfig.replace`."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        copied = super().replace(**kwargs)
        copied._tpu_config = tpu_config  # type: ignore[attr-defined]
        return copied  # type: ignore[return-value]

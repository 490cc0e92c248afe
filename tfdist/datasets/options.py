"""`tf.data.Options`: accepted as in TensorFlow; what changes a graph there changes it here."""

from __future__ import annotations

from typing import Any, ClassVar


class _Settings:
    """Settings of some names and types; each is None until it is set."""

    _TYPES: ClassVar[dict[str, type]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._TYPES:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        wanted = self._TYPES[name]
        if value is not None and not isinstance(value, wanted):
            raise TypeError(
                f'Property "{name}" must be of type {wanted}, got: {value!r} (type: {type(value)})'
            )
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        if name not in self._TYPES:
            raise AttributeError(f"{type(self).__name__} has no property {name!r}")
        if issubclass(self._TYPES[name], _Settings):
            return self.__dict__.setdefault(name, self._TYPES[name]())
        return None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._said() == other._said()  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def _said(self) -> dict[str, Any]:
        """Return what was set."""
        return {key: value for key, value in self.__dict__.items() if value is not None}

    def merge(self, other: Any) -> Any:
        """Return these settings with those that `other` says besides.

        Raises:
          ValueError: both say different things.
        """
        merged = type(self)()
        merged.__dict__.update(self.__dict__)
        for name, value in other._said().items():
            own = self.__dict__.get(name)
            if isinstance(value, _Settings) and own is not None:
                value = own.merge(value)
            elif own is not None and own != value:
                raise ValueError(f"two values for the option {name!r}: {own!r} and {value!r}")
            merged.__dict__[name] = value
        return merged


class OptimizationOptions(_Settings):
    """`tf.data.experimental.OptimizationOptions`."""

    _TYPES: ClassVar[dict[str, type]] = dict.fromkeys(
        ("apply_default_optimizations", "autotune", "autotune_buffers", "filter_fusion",
         "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_batch_fusion",
         "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
         "parallel_batch", "shuffle_and_repeat_fusion"), bool) | {
        "autotune_cpu_budget": int, "map_vectorization": object}  # fmt: skip

    def names(self) -> list[str]:
        """Return the optimizations that a graph asks for."""
        defaults = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")
        wanted = {name for name in self._TYPES if self.__dict__.get(name) is True}
        wanted -= {"apply_default_optimizations", "autotune", "autotune_buffers"}
        if self.apply_default_optimizations is not False:
            wanted |= {name for name in defaults if self.__dict__.get(name) is not False}
        return sorted(wanted)


class ThreadingOptions(_Settings):
    """`tf.data.experimental.ThreadingOptions`."""

    _TYPES: ClassVar[dict[str, type]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


class DistributeOptions(_Settings):
    """`tf.data.experimental.DistributeOptions`."""

    _TYPES: ClassVar[dict[str, type]] = {
        "auto_shard": bool,
        "num_devices": int,
        "auto_shard_policy": object,
    }


class StatsOptions(_Settings):
    """`tf.data.experimental.StatsOptions`."""

    _TYPES: ClassVar[dict[str, type]] = {
        "aggregator": object,
        "prefix": str,
        "counter_prefix": str,
        "latency_all_edges": bool,
    }


class Options(_Settings):
    """Options of a dataset; they change how it is computed, not what it gives.

    Example:
      >>> options = Options()
      >>> options.experimental_deterministic = True
      >>> options.merge(Options()).experimental_deterministic
      True
    """

    _TYPES: ClassVar[dict[str, type]] = {
        "experimental_deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": bool,
        "experimental_stateful_whitelist": object,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
    }

    def optimizations(self) -> list[str]:
        """Return the optimizations that a graph asks for."""
        found: list[str] = self.experimental_optimization.names()
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        return found + ["slack"] * (self.experimental_slack is True)

"""Names of tensorflow.python.eager, compat and tf2 for libraries that ask how a program runs.

It runs on graphs: whatever needs eager execution skips the test that asks for it.
"""

from __future__ import annotations

import datetime
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.graph import scopes
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.session.device_lib import list_local_devices

__all__ = [
    "EAGER_MODE", "GRAPH_MODE", "Context", "context", "eager_mode", "enabled",
    "executing_eagerly", "forward_compatibility_horizon", "forward_compatible", "graph_mode",
    "in_eager_mode", "num_gpus", "set_global_seed",
]  # fmt: skip

GRAPH_MODE, EAGER_MODE = 0, 1
ASYNC, SYNC = 1, 0
set_global_seed = set_random_seed


def executing_eagerly() -> bool:
    """Return False: graphs are built here."""
    return False


in_eager_mode = enabled = executing_eagerly


@contextmanager
def graph_mode() -> Iterator[None]:
    """Build graphs, as always."""
    yield


@contextmanager
def eager_mode() -> Iterator[None]:
    """Skip the test that asks for eager execution.

    Raises:
      unittest.SkipTest: always.
    """
    raise unittest.SkipTest("eager execution is not here: programs build graphs")
    yield


def num_gpus() -> int:
    """Return the number of GPUs."""
    return sum(device.device_type == "GPU" for device in list_local_devices())


def device(name: Any) -> Any:
    """Return a scope in which nodes go to a device."""
    return scopes.device(name)


class Context:
    """How this process runs."""

    device_name = scope_name = ""
    execution_mode = SYNC

    def executing_eagerly(self) -> bool:
        """Return False: graphs are built here."""
        return False

    def num_gpus(self) -> int:
        """Return the number of GPUs."""
        return num_gpus()

    def devices(self) -> list[str]:
        """Return the names of this process's devices."""
        return [device.name for device in list_local_devices()]

    def device(self, name: Any) -> Any:
        """Return a scope in which nodes go to a device."""
        return scopes.device(name)

    def ensure_initialized(self) -> None:
        """Do nothing: there is nothing to start."""


_CONTEXT = Context()


def context() -> Context:
    """Return the process's only context."""
    return _CONTEXT


def ensure_initialized() -> None:
    """Do nothing: there is nothing to start."""


def async_wait() -> None:
    """Do nothing: nothing runs on its own."""


# compat


class _Horizon:
    day = datetime.date(2019, 8, 21)  # that of 1.15


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return whether graphs may have what old programs can read only since that day."""
    return datetime.date(year, month, day) < _Horizon.day


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Let another day be the one before which `forward_compatible` is true."""
    before, _Horizon.day = _Horizon.day, datetime.date(year, month, day)
    try:
        yield
    finally:
        _Horizon.day = before


# def_function, function


def defun(func: Callable[..., Any] | None = None, *_: Any, **options: Any) -> Any:
    """Return a function as `tf.function` makes it, or a decorator that does."""
    from tfdist.programs.missing import public

    known = {key: options[key] for key in ("input_signature", "autograph") if key in options}
    return public().function(func, **known)


defun_with_attributes = defun

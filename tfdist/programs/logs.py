"""tf.logging: lines of a program's log, through Python's logger "tensorflow"."""

from __future__ import annotations

import logging
import sys
from functools import cache
from itertools import count
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "flush",
    "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity",
    "vlog", "warn", "warning",
]  # fmt: skip

_counts: dict[tuple[str, int], Any] = {}


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is stderr now: a notebook's cells and tests exchange it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))

    @property
    def stream(self) -> Any:
        """Return where lines go."""
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Do nothing."""


@cache
def _logger() -> logging.Logger:
    logger = logging.getLogger("tensorflow")
    if not logger.handlers and not logging.getLogger().handlers:
        logger.addHandler(_Stderr())
        logger.propagate = False
    if logger.level == logging.NOTSET:
        logger.setLevel(WARN)
    return logger


def get_logger() -> logging.Logger:
    """Return Python's logger that tf.logging writes to; it is `tf.get_logger`.

    Example:
      >>> get_logger().name
      'tensorflow'
    """
    return _logger()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line of a level, `msg % args`.

    Args:
      level: DEBUG to FATAL.
      msg: text with places for `args`.
      *args: what stands there.
      **kwargs: those of `logging`, such as `exc_info=True`.

    Example:
      >>> log(DEBUG, "loss is %g", 0.5)
    """
    _logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line for who hunts an error."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line on what goes on."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line on what may be wrong."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line on what went wrong."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line on what the program cannot go on after."""
    log(FATAL, msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Write a line of a level."""
    log(level, msg, *args, **kwargs)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Write a line if `condition` holds."""
    if condition:
        log(level, msg, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Write a line when this is called here for the first time, and every `n`-th time after."""
    log_if(level, msg, not _calls_here() % n, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Write a line the first `n` times that this is called here."""
    log_if(level, msg, _calls_here() < n, *args)


def _calls_here() -> int:
    """Return how often the caller's caller came from the same line before."""
    frame = sys._getframe(2)
    number: int = next(_counts.setdefault((frame.f_code.co_filename, frame.f_lineno), count()))
    return number


def set_verbosity(v: int) -> None:
    """Set the lowest level of the lines that are written; WARN at first."""
    _logger().setLevel(v)


def get_verbosity() -> int:
    """Return the lowest level of the lines that are written.

    Example:
      >>> get_verbosity() == WARN
      True
    """
    return _logger().level


def flush() -> None:
    """Let all lines be written."""
    for handler in _logger().handlers:
        handler.flush()

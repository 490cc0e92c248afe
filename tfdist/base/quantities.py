"""Quantities with units, as people type them: "50ms", "100MB", "1GB/s", "1%", "1:200"."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(.*)")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0}
_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def duration(text: str) -> float:
    """Return the seconds that `text` says, such as "50ms".

    Example:
      >>> duration("50ms"), duration("2s")
      (0.05, 2.0)
    """
    return _quantity(text, _SECONDS, "a duration: 50ms, 1.5s")


def size(text: str) -> float:
    """Return the bytes that `text` says, such as "100MB".

    Example:
      >>> size("100MB")
      100000000.0
    """
    return _quantity(text, _BYTES, "a size: 64kB, 100MB, 1GB")


def rate(text: str) -> float:
    """Return the bytes a second that `text` says, such as "1GB/s".

    Example:
      >>> rate("10MB/s")
      10000000.0
    """
    return _quantity(text, {f"{unit}/s": n for unit, n in _BYTES.items()}, "a rate: 10MB/s, 1GB/s")


def share(text: str) -> float:
    """Return the share that `text` says, from 0 to 1: "1%" or "0.01".

    Example:
      >>> share("1%"), share("0.5")
      (0.01, 0.5)
    """
    found = _quantity(text, {"%": 0.01, "": 1.0}, "a share: 1%, 0.01")
    if found > 1:
        raise ValueError(f"{text!r} is more than all: a share is 1%, or 0.01")
    return found


def straggling(text: str) -> tuple[float, float]:
    """Return (share, factor) of "1%:5": one of a hundred takes five times as long.

    Example:
      >>> straggling("1%:5")
      (0.01, 5.0)
    """
    chance, _, factor = text.partition(":")
    try:
        return share(chance), _quantity(factor, {"": 1.0}, "a number")
    except ValueError:
        wanted = "a share and how many times as long: 1%:5"
        raise ValueError(f"{text!r} is not {wanted}") from None


def counts(text: str) -> tuple[int, int]:
    """Return (least, most) of "1:200", or of "8" twice eight.

    Example:
      >>> counts("1:200"), counts("8")
      ((1, 200), (8, 8))
    """
    least, colon, most = text.partition(":")
    words = (least, most if colon else least)
    if not all(word.isdecimal() for word in words) or not 1 <= int(words[0]) <= int(words[1]):
        raise ValueError(f"{text!r} is not a number or a range of them: 8, 1:200")
    return int(words[0]), int(words[1])


def _quantity(text: str, units: Mapping[str, float], wanted: str) -> float:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or found[2] not in units:
        raise ValueError(f"{text!r} is not {wanted}")
    return float(found[1]) * units[found[2]]

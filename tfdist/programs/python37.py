"""Python 3.7's names that later versions dropped, for programs of that time (`--numpy1`)."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import functools
import html
import inspect
import math
import random
import threading
import time
from collections.abc import Callable
from typing import Any

# Where a name stood: what to write instead today, and what it gives.
RENAMED: dict[str, tuple[str, Any]] = {
    "time.clock": ("time.perf_counter", time.process_time),
    "fractions.gcd": ("math.gcd", math.gcd),
    "base64.encodestring": ("base64.encodebytes", base64.encodebytes),
    "base64.decodestring": ("base64.decodebytes", base64.decodebytes),
    "cgi.escape": ("html.escape", html.escape),
    "inspect.getargspec": ("inspect.getfullargspec", lambda of: argspec(of)),
    "threading.Thread.isAlive": ("is_alive", threading.Thread.is_alive),
} | {
    f"collections.{name}": (f"collections.abc.{name}", getattr(collections.abc, name))
    for name in collections.abc.__all__
}
ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def bring_back() -> None:
    """Give Python's modules the names that they had in 3.7.

    Example, not one that is run: it would change what others find.

        bring_back()
        fractions.gcd(4, 6)  # 2
    """
    homes = {
        "time": time, "fractions": fractions, "base64": base64, "inspect": inspect,
        "collections": collections, "threading.Thread": threading.Thread,
    }  # fmt: skip
    for path, (_, value) in RENAMED.items():
        home, _, name = path.rpartition(".")
        if home in homes and not hasattr(homes[home], name):
            setattr(homes[home], name, value)
    if not hasattr(random.sample, "__wrapped__"):
        random.sample = _sampling(random.sample)  # type: ignore[assignment]


def argspec(of: Callable[..., Any]) -> ArgSpec:
    """Return what `inspect.getargspec` returned for a function."""
    found = inspect.getfullargspec(of)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _sampling(sample: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(sample)
    def sample_of(population: Any, k: int, **options: Any) -> Any:
        """Return `random.sample`, of a set too."""
        of_set = isinstance(population, collections.abc.Set)
        return sample(tuple(population) if of_set else population, k, **options)

    return sample_of

"""How much memory a process may have: what a user says of it, and what the machine has.

`TFDIST_MEMORY_LIMIT`, or the option `--memory-limit` of `tfdist serve`, is a size ("4GB", "512MiB",
"75%" of the machine's memory), or "step=1GB" for what one step may hold, or both with a comma
between; "off" is no limit. Without it a process has 90 % of the machine's memory. Where a control
group of the system (a container's, say) has less, that counts as the machine's.

Source: cgroups(7), and the kernel's cgroup-v1/memory and cgroup-v2.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

VARIABLE = "TFDIST_MEMORY_LIMIT"
_USUAL = 0.9  # of the machine's memory
_UNITS = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([A-Za-z]*|%)")
_WANTED = "a size such as 4GB, 512MiB or 75%, step=SIZE, both with a comma between, or off"

Read = Callable[[str], str]  # path of a file -> its text, "" if there is none


class MemoryLimit(NamedTuple):
    """What a process may have.

    Attributes:
      process: bytes in all.
      step: bytes that one step may hold.
    """

    process: float = math.inf
    step: float = math.inf


def memory_limit(
    environment: Mapping[str, str] = os.environ, machine: Callable[[], float] | None = None
) -> MemoryLimit:
    """Return the limit of this process.

    Args:
      environment: variables.
      machine: returns the bytes that the machine has.

    Raises:
      ValueError: the variable says nothing that makes sense.

    Example:
      >>> memory_limit({"TFDIST_MEMORY_LIMIT": "4GB,step=50%"}, lambda: 16e9)
      MemoryLimit(process=4000000000.0, step=8000000000.0)
    """
    text = environment.get(VARIABLE, "")
    try:
        return parse_limit(text, machine or machine_memory)
    except ValueError as error:
        raise ValueError(f"{VARIABLE}={text!r}: {error}") from None


def parse_limit(text: str, machine: Callable[[], float]) -> MemoryLimit:
    """Return the limit that `text` says; without words, what holds without it.

    Args:
      text: see the module.
      machine: returns the bytes that the machine has.

    Raises:
      ValueError: it makes no sense.
    """
    if text.strip() == "off":
        return MemoryLimit()
    process, step = math.inf, math.inf
    for part in filter(None, text.replace(" ", "").split(",")):
        if part.startswith("step="):
            step = _bytes(part.removeprefix("step="), machine)
        else:
            process = _bytes(part, machine)
    if process == math.inf:
        process = _USUAL * machine()
    return MemoryLimit(process, step)


def _bytes(text: str, machine: Callable[[], float]) -> float:
    found = _SIZE.fullmatch(text)
    number, unit = (float(found[1]), found[2].upper()) if found else (0.0, "")
    if number <= 0 or (unit != "%" and unit not in _UNITS):
        raise ValueError(f"wanted {_WANTED}, not {text!r}")
    return number / 100 * machine() if unit == "%" else number * _UNITS[unit]


def read_text(path: str) -> str:
    """Return the text of a file of the system, "" if there is none."""
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def machine_memory(read: Read = read_text) -> float:
    """Return the bytes that this process's machine has, or its control groups allow.

    Args:
      read: returns the text of a file.
    """
    return min(_installed(read), *_allowed(read), math.inf)


def _installed(read: Read) -> float:
    found = re.search(r"^MemTotal:\s+(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    if found:
        return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf


def _allowed(read: Read) -> Iterator[float]:
    """Yield what each control group around this process allows, of both versions."""
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            roots, name = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], "memory.max"
        elif "memory" in controllers.split(","):
            roots, name = ["/sys/fs/cgroup/memory"], "memory.limit_in_bytes"
        else:
            continue
        for root in roots:
            for folder in _upwards(path):
                limit = read(f"{root}{folder}/{name}").strip()
                if limit.isdecimal():  # else it is "max", or not there
                    yield int(limit)


def _upwards(path: str) -> Iterator[str]:
    """Yield a group's path and those around it, "" at last: a container sees its own as that."""
    inner = PurePosixPath(path)
    for each in (inner, *inner.parents):
        yield "" if str(each) == "/" else str(each)


def size_text(nbytes: float) -> str:
    """Return a size for people.

    Example:
      >>> size_text(3 * 2**30), size_text(5_000_000)
      ('3.0 GiB', '4.8 MiB')
    """
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes:.0f} bytes"

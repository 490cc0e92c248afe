"""How many files a process may have open, and which of them can be read."""

from __future__ import annotations

import contextlib
import select

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


def allow_many_files() -> None:
    """Let this process have as many files open as the system lets it.

    A server has up to four for each task that it talks to, and shells allow 1,024 at first.
    """
    if resource is None:
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # more than this system can
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def is_readable(descriptor: int, timeout: float = 0.0) -> bool:
    """Return whether something, or an end, is there to be read within `timeout` seconds.

    `select.select` refuses descriptors of 1,024 and more.
    """
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    return bool(watched.poll(timeout * 1000))

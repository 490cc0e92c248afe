"""`StubResource`: a resource that does nothing but be there or not, for tests of the framework."""

from __future__ import annotations

import threading


class StubResource:
    """A resource that has a handle before it is there.

    Args:
      name: under which it is found.
      container: in which it is found.
    """

    def __init__(self, name: str, container: str = "") -> None:
        self.container = container or "localhost"
        self.path = f"{self.container}/{name}"
        self.is_created = False
        self._lock = threading.Lock()

    def create(self) -> bool:
        """Let it be there; return whether it was not before."""
        with self._lock:
            is_new, self.is_created = not self.is_created, True
            return is_new

"""All state of a task that outlives steps, by container, kind and name."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from tfdist.base.aliases import TaskResource
from tfdist.errors import InvalidArgumentError

# Kind -> the module here and its class; a task imports those of which it has a resource.
_KINDS = {
    "variable": ("variables", "Variable"), "queue": ("queues", "Queue"),
    "reader": ("readers", "Reader"), "iterator": ("iterators", "Iterator"),
    "accumulator": ("accumulators", "Accumulator"), "barrier": ("barriers", "Barrier"),
    "stage": ("staging", "Stage"), "map stage": ("map_staging", "MapStage"),
    "tensors map": ("tensors_map", "TensorsMap"), "table": ("tables", "Table"),
    "record input": ("record_input", "RecordInput"),
    "resource variable": ("resource_variables", "ResourceVariable"),
    "session tensors": ("session_tensors", "SessionTensors"), "mutex": ("mutexes", "Mutex"),
    "stub": ("stub_resources", "StubResource"),
    "summary writer": ("summary_writers", "SummaryWriter"),
}  # fmt: skip
_GO_ON = {"iterator", "summary writer"}  # by themselves, until they are closed
DEFAULT_CONTAINER = "localhost"
_ANY_NAME = {"counter", "resource variable"}  # TensorFlow takes all names for these
_CONTAINER = re.compile(r"[A-Za-z0-9.][A-Za-z0-9./-]*")
_OWN_NAME = re.compile(r"_\d+_")  # see `Worker`: no program gives these


class Resources:
    """All state of a task."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.Lock()

    def find(
        self, kind: str, container: str, name: str, make: Callable[[TaskResource], TaskResource]
    ) -> TaskResource:
        """Return the resource of that name; `make(class of the kind)` if it is new.

        Raises:
          InvalidArgumentError: the container or the name is none that TensorFlow takes.
        """
        key = (container or DEFAULT_CONTAINER, kind, name)
        found = self._found.get(key)
        if found is not None:
            return found
        if kind not in _ANY_NAME:
            _check(container, name)
        kind_class = _class_of(kind)
        with self._lock:
            return self._found.get(key) or self._found.setdefault(key, make(kind_class))

    def forget(self, prefix: str) -> None:
        """Forget what has a name that begins with `prefix`."""
        with self._lock:
            keys = [key for key in self._found if key[2].startswith(prefix)]
            gone = [(key[1], self._found.pop(key)) for key in keys]
        _close(gone)

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Forget what is in `containers`; everything if none is named."""
        names = set(containers)
        with self._lock:
            keys = [key for key in self._found if not names or key[0] in names]
            gone = [(key[1], self._found.pop(key)) for key in keys]
        _close(gone)

    def items(self) -> list[tuple[str, str, str, TaskResource]]:
        """Return (container, kind, name, resource) of everything, without waiting for anybody."""
        return [(*key, value) for key, value in list(self._found.items())]

    def rows(self) -> list[tuple[str, str, str, TaskResource]]:
        """Return (container, kind, name, resource) of everything, sorted."""
        with self._lock:
            return sorted((*key, value) for key, value in self._found.items())


@cache
def _class_of(kind: str) -> TaskResource:
    if kind == "counter":
        return itertools.count
    module, name = _KINDS[kind]
    return getattr(import_module(f"{__package__}.{module}"), name)


def _check(container: str, name: str) -> None:
    """Raise InvalidArgumentError for names that TensorFlow's tasks do not take."""
    if container and not _CONTAINER.fullmatch(container):
        raise InvalidArgumentError(f"container contains invalid characters: {container}")
    if name.startswith("_") and not _OWN_NAME.match(name):
        raise InvalidArgumentError(f"shared_name cannot start with '_':{name}")


def _close(gone: Iterable[tuple[str, TaskResource]]) -> None:
    """End what goes on by itself, of (kind, resource): files that iterators write, threads."""
    for kind, each in gone:
        if kind in _GO_ON:
            each.close()

"""All state of a task that outlives steps, by container, kind and name."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.errors import InvalidArgumentError
from tfdist.runtime.resources.accumulators import Accumulator
from tfdist.runtime.resources.barriers import Barrier
from tfdist.runtime.resources.iterators import Iterator
from tfdist.runtime.resources.map_staging import MapStage
from tfdist.runtime.resources.mutexes import Mutex
from tfdist.runtime.resources.queues import Queue
from tfdist.runtime.resources.readers import Reader
from tfdist.runtime.resources.record_input import RecordInput
from tfdist.runtime.resources.resource_variables import ResourceVariable
from tfdist.runtime.resources.session_tensors import SessionTensors
from tfdist.runtime.resources.staging import Stage
from tfdist.runtime.resources.stub_resources import StubResource
from tfdist.runtime.resources.summary_writers import SummaryWriter
from tfdist.runtime.resources.tables import Table
from tfdist.runtime.resources.tensors_map import TensorsMap
from tfdist.runtime.resources.variables import Variable

_KINDS: dict[str, Any] = {
    "variable": Variable, "queue": Queue, "counter": itertools.count, "reader": Reader,
    "iterator": Iterator, "accumulator": Accumulator, "barrier": Barrier, "stage": Stage,
    "map stage": MapStage, "tensors map": TensorsMap, "table": Table,
    "record input": RecordInput, "resource variable": ResourceVariable,
    "session tensors": SessionTensors, "mutex": Mutex,
    "stub": StubResource, "summary writer": SummaryWriter,
}  # fmt: skip
DEFAULT_CONTAINER = "localhost"
_ANY_NAME = {"counter", "resource variable"}  # TensorFlow takes all names for these
_CONTAINER = re.compile(r"[A-Za-z0-9.][A-Za-z0-9./-]*")
_OWN_NAME = re.compile(r"_\d+_")  # see `Worker`: no program gives these


class Resources:
    """All state of a task."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.Lock()

    def find(self, kind: str, container: str, name: str, make: Callable[[Any], Any]) -> Any:
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
        with self._lock:
            return self._found.get(key) or self._found.setdefault(key, make(_KINDS[kind]))

    def forget(self, prefix: str) -> None:
        """Forget what has a name that begins with `prefix`."""
        with self._lock:
            names = [key for key in self._found if key[2].startswith(prefix)]
            gone = [self._found.pop(key) for key in names]
        _close(gone)

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Forget what is in `containers`; everything if none is named."""
        names = set(containers)
        with self._lock:
            keys = [key for key in self._found if not names or key[0] in names]
            gone = [self._found.pop(key) for key in keys]
        _close(gone)

    def items(self) -> list[tuple[str, str, str, Any]]:
        """Return (container, kind, name, resource) of everything, without waiting for anybody."""
        return [(*key, value) for key, value in list(self._found.items())]

    def rows(self) -> list[tuple[str, str, str, Any]]:
        """Return (container, kind, name, resource) of everything, sorted."""
        with self._lock:
            return sorted((*key, value) for key, value in self._found.items())


def _check(container: str, name: str) -> None:
    """Raise InvalidArgumentError for names that TensorFlow's tasks do not take."""
    if container and not _CONTAINER.fullmatch(container):
        raise InvalidArgumentError(f"container contains invalid characters: {container}")
    if name.startswith("_") and not _OWN_NAME.match(name):
        raise InvalidArgumentError(f"shared_name cannot start with '_':{name}")


def _close(gone: Iterable[Any]) -> None:
    """End what goes on by itself: files that iterators write, and their threads."""
    for each in gone:
        if isinstance(each, Iterator | SummaryWriter):
            each.close()

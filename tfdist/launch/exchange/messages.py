"""What tasks and whoever started them say to each other: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TypeAlias

from tfdist.errors import InvalidArgumentError

Addresses: TypeAlias = Mapping[str, str]  # "HOST:PORT" by task name

LARGEST = 16 * 2**20  # characters of a line: the addresses of some 200,000 tasks


@dataclass(frozen=True)
class Bound:
    """A task has its port.

    Attributes:
      address: "HOST:PORT".
      pid: process id on its host.
      host: name of its host.
      software: versions of tfdist and Python.
      request: for a certificate (PEM), "" where nothing is encrypted.
    """

    address: str
    pid: int = 0
    host: str = ""
    software: str = ""
    request: str = ""


@dataclass(frozen=True)
class Serves:
    """A task serves: sessions may use it."""


@dataclass(frozen=True)
class Ended:
    """A task ends, for a cause or because it was asked to."""

    cause: str = ""


@dataclass(frozen=True)
class Cluster:
    """Where all tasks are; the first one starts the server, later ones move tasks.

    Attributes:
      addresses: "HOST:PORT" by task name.
      lease: seconds until the server ends unless it hears more; 0 for no lease.
      certificate: of the task that is told, PEM; "" where nothing is encrypted.
      authority: that signed it, PEM.
    """

    addresses: Addresses = field(default_factory=dict)
    lease: float = 0.0
    certificate: str = ""
    authority: str = ""


@dataclass(frozen=True)
class Lease:
    """Whoever started the task is still there: the lease runs `seconds` from now."""

    seconds: float


@dataclass(frozen=True)
class Stop:
    """The server shall end.

    Attributes:
      grace: seconds that running steps may still take.
      cause: of a failed start, "" for an ordinary end.
    """

    grace: float = 0.0
    cause: str = ""


@dataclass(frozen=True)
class Start:
    """Who keeps the task shall start it anew; see `ranks.keeper`."""


@dataclass(frozen=True)
class Kill:
    """Who keeps the task shall kill its process."""


FromTask: TypeAlias = Bound | Serves | Ended
ToTask: TypeAlias = Cluster | Lease | Stop | Start | Kill
Message: TypeAlias = FromTask | ToTask

_KINDS: dict[str, type[Message]] = {
    kind.__name__.lower(): kind
    for kind in (Bound, Serves, Ended, Cluster, Lease, Stop, Start, Kill)
}


def encode(message: Message) -> str:
    """Return a message as one line, without its end.

    Example:
      >>> encode(Lease(30.0))
      '{"lease": {"seconds": 30.0}}'
    """
    return json.dumps({type(message).__name__.lower(): asdict(message)})


def decode(line: str | bytes) -> Message:
    """Return the message of a line.

    What a later version adds to a message is left out.

    Raises:
      InvalidArgumentError: it is no message.

    Example:
      >>> decode('{"stop": {"grace": 1.0, "color": "red"}}')
      Stop(grace=1.0, cause='')
    """
    try:
        if len(line) > LARGEST:
            raise ValueError(f"{len(line)} characters")
        ((name, told),) = json.loads(line).items()
        kind = _KINDS[name]
        known = {each.name for each in fields(kind)}
        message = kind(**{key: value for key, value in told.items() if key in known})
        _check(message)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        start = line[:60] if isinstance(line, str) else line[:60].decode(errors="replace")
        raise InvalidArgumentError(
            f"no message of a task's exchange: {start!r} ({type(error).__name__}: {error}); wanted "
            f"a JSON object with one of {', '.join(_KINDS)}"
        ) from None
    return message


def _check(message: Message) -> None:
    """Raise TypeError unless the fields of a message have their types."""
    for each in fields(message):
        value, wanted = getattr(message, each.name), each.type
        if wanted == "float":
            ok = isinstance(value, int | float) and not isinstance(value, bool)
        elif wanted == "Addresses":
            ok = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        else:
            ok = type(value).__name__ == wanted
        if not ok:
            raise TypeError(f"{each.name} is {type(value).__name__}, wanted {wanted}")

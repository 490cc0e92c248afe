"""Running code in the process of a server that this process started; `cells` is the other side."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tfdist.errors import UnavailableError
from tfdist.launch.task_names import short_name
from tfdist.runtime.step.interrupts import LOOK_UP

PATIENCE = 2.0  # seconds that code has to end, after Ctrl-C
_MOST = 1 << 16  # bytes that are read at once


class CellResult(NamedTuple):
    """What came of code.

    Attributes:
      value: of its last expression, as text; None where there is none.
      error: its traceback as text, None if it came to its end.
    """

    value: str | None
    error: str | None


class CellChannel:
    """This end of the pair of sockets of one server.

    Args:
      end: the socket.
      name: of the task, for messages.
    """

    def __init__(self, end: socket.socket, name: str) -> None:
        self._socket, self._name = end, name
        self._socket.settimeout(LOOK_UP)
        self._rest, self._count = b"", 0
        self._unsent = b""
        self._lock = threading.Lock()

    def run(self, code: str, write: Callable[[str], None]) -> CellResult:
        """Run code there, wait for its end, and return what came of it.

        Args:
          code: Python; its names stay, for the next one.
          write: gets what it prints, as it comes.

        Raises:
          UnavailableError: the process has ended.
          KeyboardInterrupt: Ctrl-C, which the code gets, too; it has two seconds to end.
        """
        held: list[bool] = []
        try:
            held.extend(map(self._lock.acquire, (False,)))  # one call of C: Ctrl-C is not between
            if not held[0]:
                told = f"{self._name} runs another cell; wait for it, or interrupt it"
                raise UnavailableError(told)
            return self._run(code, write)
        finally:
            if held and held[0]:
                self._lock.release()

    def _run(self, code: str, write: Callable[[str], None]) -> CellResult:
        self._count += 1
        self._unsent += _line({"run": code, "id": self._count})
        try:  # no call in between: from here on it is sent, whenever Ctrl-C comes
            self._send()
            return self._result(self._messages(), write)
        except KeyboardInterrupt:
            self._unsent += _line({"interrupt": self._count})
            self._send()
            with contextlib.suppress(TimeoutError):
                self._result(self._messages(PATIENCE), write)
            raise

    def close(self) -> None:
        """Let go of it; the server goes on."""
        self._socket.close()

    def _result(
        self, messages: Iterator[dict[str, object]], write: Callable[[str], None]
    ) -> CellResult:
        for message in messages:
            if message["id"] != self._count:
                continue  # of one that did not end when it was interrupted
            if "written" in message:
                write(str(message["written"]))
            else:
                return CellResult(*(_text(message[name]) for name in CellResult._fields))
        raise self._ended()

    def _send(self) -> None:
        try:
            while self._unsent:
                self._send_some()
        except TimeoutError:
            raise UnavailableError(f"{self._name} does not take any code: is it frozen?") from None
        except OSError:
            raise self._ended() from None

    def _send_some(self) -> None:
        """Send what the socket takes; Ctrl-C may come at any step, but not between the two here."""
        sent: list[int] = []
        try:
            sent.extend(map(self._socket.send, (self._unsent,)))  # one call of C
        finally:
            if sent:
                self._unsent = self._unsent[sent[0] :]

    def _ended(self) -> UnavailableError:
        again = f"%cluster restart {short_name(self._name)}"
        return UnavailableError(f"{self._name} has ended; {again} starts it anew")

    def _messages(self, seconds: float | None = None) -> Iterator[dict[str, object]]:
        left = None if seconds is None else round(seconds / LOOK_UP)
        while True:
            line, found, rest = self._rest.partition(b"\n")
            if found:
                self._rest = rest
                yield json.loads(line)
                continue
            try:
                more = self._socket.recv(_MOST)
            except TimeoutError:  # in short waits: a signal may come just before one
                if left is not None and (left := left - 1) < 0:
                    raise
                continue
            except OSError:
                return
            if not more:
                return
            self._rest += more


def _line(message: dict[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _text(value: object) -> str | None:
    return None if value is None else str(value)

"""Code that runs in the process of a server, sent by the process that started it.

The two share a pair of sockets that nobody else can open: it has no name and no port, and the
server gets its end when it begins. Messages are lines of JSON. The other side is `cell_channel`.

    {"run": CODE, "id": N}  run it; one at a time
    {"interrupt": N}        raise KeyboardInterrupt in what runs

and back, while it runs and at its end:

    {"id": N, "written": TEXT}
    {"id": N, "value": TEXT or null, "error": TEXT or null}
"""

from __future__ import annotations

import ast
import ctypes
import io
import json
import linecache
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TextIO


class CellRunner:
    """Runs what comes over a socket, on a thread of its own.

    Args:
      channel: this end of the pair.
      names: what the code sees; it may add to them.
    """

    def __init__(self, channel: socket.socket, names: dict[str, object]) -> None:
        self._file = channel.makefile("rw", encoding="utf-8", newline="\n")
        self._names = names
        self._lock = threading.Lock()  # of the writer
        self._runs: threading.Thread | None = None

    def serve(self) -> None:
        """Take messages until the other end is closed."""
        try:
            for line in self._file:
                message = json.loads(line)
                if "run" in message:
                    self._begin(str(message["run"]), int(message["id"]))
                elif self._runs is not None and self._runs.ident is not None:
                    _raise_in(self._runs.ident, KeyboardInterrupt)
        except (OSError, ValueError):  # the other end is gone
            return

    def _begin(self, code: str, number: int) -> None:
        if self._runs is not None and self._runs.is_alive():
            told = "another cell still runs here; %cluster restart ends it"
            self._tell({"id": number, "value": None, "error": told})
            return
        self._runs = threading.Thread(
            target=self._run, args=(code, number), name="tfdist-cell", daemon=True
        )
        self._runs.start()

    def _run(self, code: str, number: int) -> None:
        value, error = None, None
        name = f"<cell {number}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            with _written_to(lambda text: self._tell({"id": number, "written": text})):
                found = self._value(code, name)
                value = None if found is None else repr(found)
        except BaseException as raised:
            error = _told(raised, name)
        self._runs = None
        self._tell({"id": number, "value": value, "error": error})

    def _value(self, code: str, name: str) -> object:
        """Run code and return the value of its last expression, or None."""
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self._names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), name, "eval"), self._names)

    def _tell(self, message: dict[str, object]) -> None:
        try:
            with self._lock:
                self._file.write(json.dumps(message) + "\n")
                self._file.flush()
        except (OSError, ValueError):  # nobody listens any more
            return


def run_cells(descriptor: int, names: dict[str, object]) -> None:
    """Run what comes over the socket of a descriptor, in the background."""
    runner = CellRunner(socket.socket(fileno=descriptor), names)
    threading.Thread(target=runner.serve, name="tfdist-cells", daemon=True).start()


def _told(error: BaseException, name: str) -> str:
    """Return the traceback of an error, from the code on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != name:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def _raise_in(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


class _PerThread(io.TextIOBase):
    """A standard stream of which one thread's part goes elsewhere.

    Args:
      stream: that takes what other threads write.
      write: takes what this thread writes.
    """

    def __init__(self, stream: TextIO, write: Callable[[str], None]) -> None:
        self._stream, self._write, self._thread = stream, write, threading.get_ident()

    def write(self, text: str) -> int:
        """Write text, wherever that goes."""
        if threading.get_ident() == self._thread:
            self._write(text)
            return len(text)
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush what other threads wrote."""
        self._stream.flush()


class _written_to:
    """Lets what this thread prints go to a function, within a `with`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (_PerThread(each, self._write) for each in self._before)

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._before

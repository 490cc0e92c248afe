"""A reader: `ReaderState` with a lock around it, and the records of the item that it is at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.errors import DataLossError, OpError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.reader_state import Completion, ReaderState
from tfdist.runtime.resources.wait_info import WaitInfo

Record = tuple[bytes, bytes]


class Reader:
    """A reader that steps of any session read from, one at a time.

    Args:
      kind: what it reads, as in "TextLineReader", for messages.
      name: the resource's.
      records: gives the records of an item, lazily.
      gives_one: whether every item has one record, so that it is finished with that.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        records: Callable[[bytes], Iterator[Record]],
        gives_one: bool = False,
    ) -> None:
        self.kind = kind
        self.name = name
        self.state = ReaderState()
        self._open = records
        self._gives_one = gives_one
        self._records: Iterator[Record] | None = None
        self._error: OpError | None = None
        self._line = threading.Lock()  # for the line only: files may be slow
        self._file = threading.Lock()

    def enter(self) -> bool:
        """Take the turn if nobody has it; returns whether that is so."""
        with self._line:
            return self.state.enter()

    def turn(self) -> Turn:
        """Return the wait for the turn."""
        return Turn(self)

    def leave(self) -> None:
        """End the turn."""
        with self._line:
            served = self.state.leave()
        _tell(served)

    def next(self, count: int) -> list[Record]:
        """Return up to `count` more records of the item that the reader is at.

        Returns:
          Nothing if it is at none, or at its end.

        Raises:
          NotFoundError: there is no such file; the next call goes on with the next item, as after
            all errors but the following.
          DataLossError: the file is damaged; so is each call after it, until the reader is reset.
        """
        with self._file:
            records: list[Record] = []
            if self._records is not None and self._error is None:
                self._read(records, count)
            if self._error is not None and not records:
                raise self._failure()
            return records

    def _read(self, records: list[Record], count: int) -> None:
        """Append up to `count` records; an error waits until those before it were taken."""
        assert self._records is not None
        try:
            records.extend(islice(self._records, count))
        except OpError as error:
            self._error = error
            self._records = None
        self.state.produced += len(records)
        if (len(records) < count or self._gives_one) and self._error is None:
            self._records = None
            self.state.finished += 1

    def _failure(self) -> OpError:
        assert self._error is not None
        error = type(self._error)(self._error.message)  # each step names its own node in it
        if not isinstance(error, DataLossError):
            self._error = None
        return error

    def ask(self) -> None:
        """Say that the next item is waited for."""
        with self._file:
            self.state.work = b""

    def begin(self, work: bytes) -> None:
        """Go to an item that came from a queue."""
        with self._file:
            self.state.begin(work)
            self._records = self._open(work)

    def reset(self) -> None:
        """Leave the item and its file, and count from 0."""
        with self._file:
            self.state.reset()
            self._records = self._error = None

    def restore(self, work: bytes, started: int, finished: int, produced: int) -> None:
        """Be where a reader was that told this; an unfinished item is read from its beginning."""
        self.reset()
        with self._file:
            state = self.state
            state.work, state.started, state.finished = work, started, finished
            state.produced = produced
            if started > finished:
                self._records = self._open(work)


class Turn:
    """The wait for the turn at a reader (a `graph.op_def.Wait`)."""

    __slots__ = ("_done", "_reader")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._done: Callable[[Any], None] | None = None

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """Stand in line; see `Wait.start`."""
        self._done = done
        reader = self._reader
        with reader._line:
            served = reader.state.stand(self)
        return None if served else PENDING

    def finish(self, outcome: Outcome) -> None:
        """Tell whoever started this wait that it has the turn."""
        if self._done is not None:
            self._done(outcome)

    def cancel(self) -> bool:
        """Leave the line; see `Wait.cancel`."""
        with self._reader._line:
            return self._reader.state.cancel(self)

    def give_back(self, outcome: Outcome) -> None:
        """Hand on a turn that came when nobody wanted it any more."""
        self._reader.leave()

    def describe(self) -> str:
        """Return what is waited for."""
        state = self._reader.state
        work = state.work.decode(errors="replace")
        doing = f"is at {work!r}" if work else "waits for its next file"
        return (
            f"a read waits for its turn at reader {self._reader.name!r}, where another step {doing}"
        )

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return WaitInfo("reader")


def _tell(served: Iterable[Completion]) -> None:
    for who, outcome in served:
        who.finish(outcome)

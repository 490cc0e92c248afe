"""The records that one RecordInput node gives, in the order in which steps ask."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice


class RecordInput:
    """Records without end, for the steps of one session.

    Args:
      records: gives them.
    """

    def __init__(self, records: Iterator[bytes]) -> None:
        self._records = records
        self._error: Exception | None = None
        self._lock = threading.Lock()

    def take(self, count: int) -> list[bytes]:
        """Return the next `count` records; what went wrong once is raised again from then on."""
        with self._lock:
            if self._error is not None:
                raise self._error.with_traceback(None)
            try:
                return list(islice(self._records, count))
            except Exception as error:
                self._error = error
                raise

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
        self._lock = threading.Lock()

    def take(self, count: int) -> list[bytes]:
        """Return the next `count` records."""
        with self._lock:
            return list(islice(self._records, count))

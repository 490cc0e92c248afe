"""What tasks are told, by way of Dask: in order for each, and without waiting for any."""

from __future__ import annotations

import contextlib
import threading

from tfdist.launch.exchange.messages import ToTask, encode
from tfdist.launch.managers.dask import task
from tfdist.launch.managers.dask.client import DaskClient


class Outbox:
    """Sends messages, on the event loop of a Dask client.

    Args:
      client: of dask.distributed.
    """

    def __init__(self, client: DaskClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._waiting: dict[str, list[str]] = {}  # by key, as long as something is sent to it

    def say(self, key: str, worker: str, message: ToTask) -> None:
        """Send a message to the server of a task; it is lost if that is not there.

        Args:
          key: of the Dask task.
          worker: address of the worker that runs it.
          message: for it.
        """
        with self._lock:
            is_sending = key in self._waiting
            self._waiting.setdefault(key, []).append(encode(message))
        if not is_sending:
            self._client.loop.add_callback(self._send, key, worker)

    async def _send(self, key: str, worker: str) -> None:
        while lines := self._taken(key):
            with contextlib.suppress(Exception):  # scheduler or worker is gone, which others tell
                await self._client.run(
                    task.deliver, key, lines, workers=[worker], on_error="ignore"
                )

    def _taken(self, key: str) -> list[str]:
        with self._lock:
            lines = self._waiting[key]
            if lines:
                self._waiting[key] = []
            else:
                del self._waiting[key]
            return lines

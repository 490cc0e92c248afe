"""The smallest cluster manager: children of this process, that talk over streams or a folder.

It is the example of a manager of one's own, and the reference in the contract of all managers.
"""

import sys
import threading
from contextlib import suppress
from pathlib import Path

from tfdist.launch.exchange.child import ExchangeChild, serve_command
from tfdist.launch.exchange.messages import Ended
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.managers.seam import ClusterManager, Place
from tfdist.launch.server_process import last_lines
from tfdist.launch.task_names import log_name, split_task


class LocalManager(ClusterManager):
    """Starts tasks as children.

    Args:
      folder: for logs.
    """

    name = "children"
    remedy = "look at the logs"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: dict[str, ExchangeChild] = {}
        self._closing = threading.Event()

    def start(self, wanted, listener):
        self._wanted, self._listener = wanted, listener
        for job, index in wanted.tasks:
            self.restart(f"/job:{job}/task:{index}")

    def restart(self, task):
        self.children[task] = ExchangeChild(
            serve_command(self.seat(*split_task(task)), python=sys.executable),
            self.folder / log_name(task),
            lambda message: self._heard(task, message),
        )

    def seat(self, job, index):
        """Return which task a child is."""
        return Seat(job, index, cpus=self._wanted.cpus, gpus=self._wanted.gpus)

    def _heard(self, task, message):
        if not (self._closing.is_set() and isinstance(message, Ended)):
            self._listener.heard(task, message)

    def tell(self, task, message):
        with suppress(OSError, KeyError):
            self.children[task].say(message)

    def place(self, task):
        return Place("this host", f"child {self.children[task].pid}")

    def logs(self, task, lines):
        return last_lines(self.children[task].log, lines)

    def kill(self, task):
        self.children[task].kill()

    def close(self, grace=0.0):
        self._closing.set()
        for child in self.children.values():
            child.stop(grace)

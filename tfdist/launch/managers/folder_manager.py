"""Managers that start all tasks by one command, and reach them over a folder that hosts share."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tfdist.errors import OpError, UnavailableError
from tfdist.launch.connection_file import stem_of
from tfdist.launch.exchange.messages import Bound, Ended, FromTask, Kill, Start, ToTask
from tfdist.launch.exchange.shared_folder import (
    POLL,
    FolderChannel,
    of_starter,
    private_folder,
    remove_folder,
)
from tfdist.launch.managers.seam import ClusterManager, Listener, Place, Wanted
from tfdist.launch.ranks.serve import FOLDER
from tfdist.launch.server_process import last_lines
from tfdist.launch.task_names import log_name

_ASKED_EVERY = 1.0  # seconds between two questions whether the command still runs
_FOLDER_OPTION = "--folder="


class FolderManager(ClusterManager):
    """Starts `tfdist serve --from SOURCE --exchange FOLDER`, once for each task; see `keeper`.

    Args:
      options: as one types them; what is not --folder=SHARED is for the command that starts tasks.

    Attributes:
      folder: of the messages and logs of this cluster, from its start on.
    """

    source = ""

    def __init__(self, options: str = "") -> None:
        words = shlex.split(options)
        shared = [word for word in words if word.startswith(_FOLDER_OPTION)]
        self._options = [word for word in words if word not in shared]
        home = Path.home() / FOLDER
        self._shared = Path(shared[-1].removeprefix(_FOLDER_OPTION)) if shared else home
        self.folder = Path()
        self._channels: dict[str, FolderChannel] = {}
        self._ended: set[str] = set()  # tasks
        self._hosts: dict[str, str] = {}  # by task, the last one of those that have ended
        self._telling, self._over = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, wanted: Wanted, listener: Listener) -> None:
        """See `ClusterManager.start`."""
        name = f"{stem_of(wanted.cluster)}-{secrets.token_hex(4)}"
        self.folder = private_folder(private_folder(self._shared.expanduser().absolute()) / name)
        self._listener = listener
        for job, index in wanted.tasks:
            task = f"/job:{job}/task:{index}"
            self._channels[task] = of_starter(self.folder, task)
        self._begin(self._command(wanted), wanted)
        self._thread = threading.Thread(target=self._listen, name="tfdist-folder", daemon=True)
        self._thread.start()

    def _command(self, wanted: Wanted) -> list[str]:
        """Return the command that each rank runs."""
        jobs = [job for job, _ in wanted.tasks]
        counts = [f"{job}={jobs.count(job)}" for job in dict.fromkeys(jobs)]
        numbers = {"--cpus": wanted.cpus, "--gpus": wanted.gpus, "--port": wanted.port}
        options = [text for name, value in numbers.items() for text in (name, str(value))]
        program = [sys.executable, "-m", "tfdist", "serve", "--from", self.source, *counts]
        return [*program, "--exchange", str(self.folder), *options]

    def _begin(self, command: Sequence[str], wanted: Wanted) -> None:
        """Have a command run once for each task; OpError where that cannot be."""
        raise NotImplementedError

    def _why_ended(self) -> str:
        """Return why no task runs any more, "" while they may."""
        raise NotImplementedError

    def _end(self) -> None:
        """End all that `_begin` began, and wait for that, for seconds at most."""
        raise NotImplementedError

    def _listen(self) -> None:
        asked_at = time.monotonic()
        every = max(POLL, len(self._channels) * 0.005)  # the folder may be a network's
        while not self._over.wait(every):
            for task, channel in self._channels.items():
                self._hear(task, channel)
            if time.monotonic() - asked_at >= _ASKED_EVERY:
                asked_at = time.monotonic()
                cause = self._why_ended()
                for task in self._channels.keys() - self._ended if cause else ():
                    self._pass_on(task, Ended(cause))

    def _hear(self, task: str, channel: FolderChannel) -> None:
        try:
            for message in channel.heard():
                self._pass_on(task, message)  # type: ignore[arg-type]
        except (OpError, OSError) as error:
            self._pass_on(task, Ended(f"cannot be heard: {error}"))

    def _pass_on(self, task: str, message: FromTask) -> None:
        if isinstance(message, Ended):
            self._ended.add(task)
        else:
            self._ended.discard(task)
        if isinstance(message, Bound):
            self._hosts[task] = message.host
        self._listener.heard(task, message)

    def tell(self, task: str, message: ToTask) -> None:
        """See `ClusterManager.tell`."""
        with self._telling, contextlib.suppress(OSError, KeyError):
            self._channels[task].say(message)

    def place(self, task: str) -> Place:
        """See `ClusterManager.place`."""
        return Place(self._hosts.get(task, ""), self._id(task))

    def _id(self, task: str) -> str:
        """Return what a task is called by what started it."""
        raise NotImplementedError

    def logs(self, task: str, lines: int) -> list[str]:
        """See `ClusterManager.logs`."""
        return last_lines(self.folder / log_name(task), lines)

    def kill(self, task: str) -> None:
        """See `ClusterManager.kill`."""
        self.tell(task, Kill())

    def restart(self, task: str) -> None:
        """See `ClusterManager.restart`: on the same host, where its place still is.

        Raises:
          UnavailableError: it is not.
        """
        cause = self._why_ended()
        if cause:
            raise UnavailableError(f"{cause}; %cluster start --replace starts the cluster anew")
        self.tell(task, Start())

    def close(self, grace: float = 0.0) -> None:
        """See `ClusterManager.close`."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._end()
        if self._channels:
            remove_folder(self.folder)

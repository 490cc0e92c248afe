"""`tfdist serve --from slurm`: tasks that nobody but `srun` or `mpirun` started.

All tell their addresses in a folder that all hosts share. Rank 0 gathers them, and leaves a file
there by which a notebook finds the cluster. When a task ends, the others stay as long as `srun` or
`mpirun` lets them: there is no lease.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfdist.errors import InvalidArgumentError
from tfdist.launch.connection_file import Connection, write_connection
from tfdist.launch.exchange.addresses import spec_of
from tfdist.launch.exchange.cluster_keys import ClusterKeys
from tfdist.launch.exchange.gathering import Gathering
from tfdist.launch.exchange.member import log, take_part
from tfdist.launch.exchange.messages import Bound, FromTask, Stop
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.exchange.shared_folder import (
    POLL,
    of_member,
    of_starter,
    private_folder,
    remove_folder,
)
from tfdist.launch.owner import this_process
from tfdist.launch.ranks.rank import Rank
from tfdist.wire.common.security import split_address

FILE, IDENTITY = "cluster.json", "identity"
FOLDER = "tfdist-clusters"  # in the home folder, which hosts of a batch system share as a rule
_LATER = 5.0  # seconds


def serve_rank(rank: Rank, tasks: Sequence[str], seat: Seat, shared: Path | None = None) -> None:
    """Be one task of a cluster until the end is asked for.

    Args:
      rank: of this process.
      tasks: names of all tasks, in the order of their ranks.
      seat: of this task.
      shared: folder that all hosts share; by default one in the home folder.

    Raises:
      InvalidArgumentError: no folder is named, and the run has no name to make one.
      OpError: see `member.take_part`.
    """
    if not rank.name and shared is None:
        raise InvalidArgumentError(
            "this run has no number of its own, so all its processes have to be told a folder that "
            "they share: --folder FOLDER, one for each run"
        )
    parent = private_folder(shared or Path.home() / FOLDER)
    folder = private_folder(parent / (rank.name or "mpi"))
    channel = of_member(folder, seat.name)
    with contextlib.ExitStack() as stack:
        if rank.number == 0:
            stack.callback(remove_folder, folder)
            gatherer = _Gatherer(folder, rank.name or "mpi", tasks, seat)
            stack.callback(gatherer.close)
        # rank 0, which knows who is missing, gives up first
        take_part(channel, replace(seat, patience=seat.patience + _LATER))


class _Gatherer:
    """Gathers the addresses of all tasks, on a thread of its own, until `close`.

    Args:
      folder: of the messages.
      name: of the cluster.
      tasks: names of all tasks.
      seat: of this one; tells how many devices each has, and how long to wait.
    """

    def __init__(self, folder: Path, name: str, tasks: Sequence[str], seat: Seat) -> None:
        self._folder, self._name, self._seat = folder, name, seat
        self._keys = ClusterKeys(name)
        self._gathering = Gathering(tasks, 0.0, self._sign)
        self._channels = {task: of_starter(folder, task) for task in tasks}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tfdist-gathering", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gather no more."""
        self._over.set()
        self._thread.join()
        self._keys.forget()

    def _run(self) -> None:
        left, is_published = self._seat.patience, False
        while not self._over.wait(POLL):
            for task, channel in self._channels.items():
                for message in channel.heard():
                    self._take(task, message)  # type: ignore[arg-type]
            if self._gathering.is_complete and not is_published:
                is_published = True
                self._publish()
            left -= POLL
            if left <= 0 and not is_published and self._gathering.missing:
                self._give_up()
                return

    def _take(self, task: str, message: FromTask) -> None:
        for name, answer in self._gathering.heard(task, message):
            self._channels[name].say(answer)

    def _sign(self, task: str, bound: Bound) -> tuple[str, str]:
        # only this user can write to the folder: what a task says of its host is believed
        return self._keys.sign(bound.request, split_address(bound.address)[0], bound.address)

    def _publish(self) -> None:
        """Write the file for notebooks, and the certificate that they show."""
        path = self._folder / FILE
        kind = self._name.partition("-")[0]
        spec = spec_of(self._gathering.addresses)
        try:
            connection = Connection(
                self._name, kind, spec, this_process(), self._seat.cpus, gpus=self._seat.gpus,
                identity=self._keys.written(self._folder / IDENTITY),
            )  # fmt: skip
            write_connection(path, connection)
        except OSError as error:
            log(f"no notebook finds this cluster: {error}")
            return
        log(f"all tasks serve; in a notebook: %cluster attach {path}")

    def _give_up(self) -> None:
        missing = ", ".join(self._gathering.missing)
        cause = (
            f"{missing} did not come in {self._seat.patience:g} s; do all hosts share "
            f"{self._folder}? --folder names another one"
        )
        for task in self._gathering.bound:
            self._channels[task].say(Stop(cause=cause))

"""A Dask cluster of the tests: a scheduler and workers, each in a process of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.launch.environment import environment_of_tests
from tests.launch.waiting import wait_until

PATIENCE = 55.0  # seconds: where much else runs, Dask's processes take long to import all they need
QUIET = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "info"}


class DaskCluster:
    """A running scheduler, and workers.

    Args:
      folder: for its files.
      prefix: command that its programs run under, such as that of a namespace.
      options: of scheduler and workers alike, such as certificates.
      host: address that the scheduler binds, with its scheme.
    """

    def __init__(
        self,
        folder: Path,
        prefix: Sequence[str] = (),
        options: Sequence[str] = (),
        host: str = "tcp://127.0.0.1",
    ) -> None:
        self._folder, self._options = folder, options
        self._processes: list[subprocess.Popen[bytes]] = []
        told = folder / "scheduler.json"
        self._run(prefix, [
            "scheduler", "--host", host, "--port", "0", "--no-dashboard", "--scheduler-file", told,
        ])  # fmt: skip
        wait_until(lambda: told.exists() and told.read_text().strip(), PATIENCE)
        self.address = json.loads(told.read_text())["address"]

    def add_workers(
        self, count: int, *more: str, host: str = "tcp://127.0.0.1", prefix: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a nanny for each of some workers; returns the process that holds them."""
        folder = self._folder / f"workers-{len(self._processes)}"
        return self._run(prefix, [
            "worker", self.address, "--host", host, "--nworkers", str(count), "--nthreads", "1",
            "--no-dashboard", "--local-directory", folder, *more,
        ])  # fmt: skip

    def _run(self, prefix: Sequence[str], words: Sequence[str | Path]) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).with_name("dask")
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*prefix, program, *words, *self._options], stdout=log, stderr=log,
                env=environment_of_tests(**QUIET), start_new_session=True,
            )  # fmt: skip
        self._processes.append(process)
        return process

    def wait_for_workers(self, count: int) -> None:
        """Wait until that many workers have come."""
        log = self._folder / "log"
        wait_until(lambda: log.read_text().count("Register worker") >= count, PATIENCE)

    def close(self) -> None:
        """End all its processes."""
        for process in reversed(self._processes):
            end_group(process)


def end_group(process: subprocess.Popen[bytes], by: signal.Signals = signal.SIGTERM) -> None:
    """End a process and its children; those that do not obey are killed."""
    for signal_number in (by, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
    process.wait()


def running_dask(folder: Path, workers: int = 3, *options: str) -> Iterator[DaskCluster]:
    """Yield a Dask cluster on this host, and end it; for fixtures."""
    cluster = DaskCluster(folder)
    try:
        cluster.add_workers(workers, *options)
        cluster.wait_for_workers(workers)
        yield cluster
    finally:
        cluster.close()

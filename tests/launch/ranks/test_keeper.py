"""A task that is kept for somebody elsewhere, as that one sees it over the folder."""

import os
import subprocess
import sys
from contextlib import contextmanager

from tests.launch.waiting import PATIENCE, wait_until
from tfdist.launch.exchange.messages import Bound, Cluster, Ended, Kill, Lease, Serves, Start
from tfdist.launch.exchange.shared_folder import of_starter
from tfdist.launch.server_process import own_environment

TASK = "/job:worker/task:0"
ALONE = {"PMI_RANK": "0", "PMI_SIZE": "1", "MPI_LOCALNRANKS": "1"}


class Kept:
    """The other end of a keeper, and the process."""

    def __init__(self, folder):
        self._channel = of_starter(folder, TASK)
        self.said = []
        self.tell = self._channel.say
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tfdist", "serve", "--from", "mpi", "--exchange", folder],
            env=own_environment() | ALONE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def wait_for(self, *kinds):
        """Wait until it has said all this, and return it."""

        def there():
            self.said.extend(self._channel.heard())
            return [type(each) for each in self.said] == list(kinds)

        wait_until(there)
        said, self.said = self.said, []
        return said

    def serve(self, lease):
        """Have the task serve, alone in its cluster, and return its process id."""
        (bound,) = self.wait_for(Bound)
        self.tell(Cluster({TASK: bound.address}, lease))
        self.wait_for(Serves)
        return bound.pid


@contextmanager
def kept(folder):
    """Yield a keeper, which is ended afterwards."""
    folder.chmod(0o700)
    keeper = Kept(folder)
    with keeper.process:
        try:
            yield keeper
        finally:
            keeper.process.kill()


def test_it_kills_and_starts_as_it_is_told_and_ends_with_its_lease(tmp_path):
    with kept(tmp_path) as keeper:
        first = keeper.serve(lease=600.0)
        keeper.tell(Kill())
        assert keeper.wait_for(Ended) == [Ended("exited (-9)")]
        keeper.tell(Start())
        assert keeper.serve(lease=600.0) != first
        keeper.tell(Lease(0.2))
        assert keeper.process.wait(PATIENCE) == 0
        keeper.wait_for(Ended)
        assert "serves at" in (tmp_path / "worker-0.log").read_text()


def test_sigterm_ends_the_task_too(tmp_path):
    with kept(tmp_path) as keeper:
        pid = keeper.serve(lease=0.0)
        keeper.process.terminate()
        assert keeper.process.wait(PATIENCE) == 0
        assert not os.path.exists(f"/proc/{pid}")

"""A task whose cluster is told later, as whoever started it sees it."""

import subprocess
from contextlib import contextmanager

import pytest

from tests.launch.waiting import PATIENCE, wait_until
from tfdist.launch.exchange.child import serve_command
from tfdist.launch.exchange.messages import Bound, Cluster, Ended, Lease, Serves, Stop
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.exchange.shared_folder import of_starter
from tfdist.launch.server_process import own_environment

TASK = "/job:worker/task:0"


class Started:
    """A member, and what it has said."""

    def __init__(self, folder, **seat):
        self.channel = of_starter(folder, TASK)
        self.said = []
        self.process = subprocess.Popen(
            serve_command(Seat("worker", 0, **seat), folder), env=own_environment(),
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for(self, kind):
        """Return its first message of a kind."""

        def there():
            self.said.extend(self.channel.heard())
            return any(isinstance(each, kind) for each in self.said)

        wait_until(there)
        return next(each for each in self.said if isinstance(each, kind))

    def serve(self, lease=0.0):
        """Have it serve, alone in its cluster."""
        self.channel.say(Cluster({TASK: self.wait_for(Bound).address}, lease))
        self.wait_for(Serves)

    def ended(self):
        """Return its exit code and what it wrote."""
        _, text = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, text


@contextmanager
def member(folder, **seat):
    """Yield a member that talks over a folder."""
    folder.chmod(0o700)
    started = Started(folder, **seat)
    with started.process:
        try:
            yield started
        finally:
            started.process.kill()


def test_it_tells_its_port_and_its_versions(tmp_path):
    with member(tmp_path) as started:
        bound = started.wait_for(Bound)
        assert bound.pid == started.process.pid
        assert "Python 3." in bound.software
        started.channel.say(Stop())
        assert started.ended()[0] == 0
        assert started.wait_for(Ended) == Ended("was stopped")


def test_it_ends_when_its_lease_is_over(tmp_path):
    with member(tmp_path) as started:
        started.serve(lease=0.2)
        code, text = started.ended()
        assert code == 1
        assert "its lease is over" in text


def test_a_renewed_lease_counts_from_then_on(tmp_path):
    with member(tmp_path) as started:
        started.serve(lease=600.0)
        started.channel.say(Lease(0.2))
        assert "its lease is over" in started.ended()[1]


def test_it_ends_when_nobody_tells_it_the_cluster(tmp_path):
    with member(tmp_path, patience=0.2) as started:
        code, text = started.ended()
        assert code == 1
        assert "nobody told the addresses of the cluster in 0.2 s" in text


def test_it_says_why_a_start_was_given_up(tmp_path):
    with member(tmp_path) as started:
        started.wait_for(Bound)
        started.channel.say(Stop(cause="worker:1 has no memory"))
        code, text = started.ended()
        assert (code, "worker:1 has no memory" in text) == (1, True)


def test_sigterm_ends_it(tmp_path):
    with member(tmp_path) as started:
        started.serve()
        started.process.terminate()
        assert started.ended()[0] == 0


def test_a_line_that_is_no_message_ends_it_with_a_sentence(tmp_path):
    with member(tmp_path) as started:
        started.wait_for(Bound)
        (tmp_path / "worker-0.to").write_text("hello\n")
        code, text = started.ended()
        assert code == 1
        assert "no message of a task's exchange: 'hello'" in text
        assert "Traceback" not in text


@pytest.mark.parametrize("missing", ["--job", "--task"])
def test_it_has_to_know_who_it_is(tmp_path, missing):
    command = serve_command(Seat("worker", 0), tmp_path)
    at = command.index(missing)
    del command[at : at + 2]
    told = subprocess.run(command, env=own_environment(), capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (
        2,
        "tfdist serve: --exchange needs --job and --task\n",
    )

"""A real sshd on the loopback for tests, and a home folder whose ssh finds it under some names."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import create_connection

from tests.launch.waiting import wait_until
from tests.needs import need
from tests.ports import free_port

PROGRAMS = {"sshd": "openssh-server", "ssh-keygen": "openssh-client"}
SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
"""
CLIENT = """
Host hosta hostb
  HostName 127.0.0.1
  Port {port}
  IdentityFile {folder}/key
  UserKnownHostsFile {folder}/known_hosts
"""


class Sshd:
    """An sshd.

    Attributes:
      home: a home folder in which ssh reaches it as "hosta" and as "hostb".
      process: of it.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.home = folder / "home"
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        for key in ("host_key", "key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True
            )
        (self.home / ".ssh" / "config").write_text(CLIENT.format(port=port, folder=folder))
        host_key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")
        configuration = folder / "sshd_config"
        configuration.write_text(SERVER.format(port=port, folder=folder))
        with suppress(OSError):
            Path("/run/sshd").mkdir(exist_ok=True)  # root's sshd wants it
        path = str(shutil.which("sshd", path="/usr/sbin:/usr/bin"))
        with open(folder / "sshd.log", "wb") as log:
            self.process = subprocess.Popen([path, "-D", "-e", "-f", configuration], stderr=log)
        wait_until(lambda: _answers(port))

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()


def _answers(port: int) -> bool:
    with suppress(OSError), create_connection(("127.0.0.1", port), 1.0):
        return True
    return False


def running_sshd(folder: Path) -> Iterator[Sshd]:
    """Yield an sshd; without its packages the test is skipped."""
    need(PROGRAMS)
    found = Sshd(folder, free_port())
    try:
        yield found
    finally:
        found.stop()

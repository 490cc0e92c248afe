"""The authority of a cluster that this process started, and this process's own certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tfdist.base.extras import is_there
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.tls import use_identity

if TYPE_CHECKING:
    from tfdist.launch.authority import Authority


class ClusterKeys:
    """Signs what tasks of a cluster ask for; nothing is made where none asks.

    Args:
      cluster: its name.

    Attributes:
      identity: what this process shows the tasks, None as long as none has asked.
    """

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._authority: Authority | None = None
        self._shown: set[str] = set()
        self.identity: Identity | None = None

    def sign(self, request: str, host: str, address: str) -> tuple[str, str]:
        """Return the certificate of a task and the authority, PEM; "" where it cannot be made.

        Args:
          request: of the task.
          host: that it runs on, as others dial it.
          address: "HOST:PORT", at which this process shows its own certificate from now on.
        """
        if not is_there("cryptography"):  # the task says what is missing
            return "", ""
        from tfdist.launch.authority import Authority

        if self._authority is None or self.identity is None:
            self._authority = Authority(self._cluster)
            self.identity = self._authority.identity()
        use_identity(self.identity, at=[address])
        self._shown.add(address)
        certificate = self._authority.sign(request.encode(), [host], "join")
        return certificate.decode(), self._authority.pem.decode()

    def written(self, folder: Path) -> Path | None:
        """Return the folder, with what other processes of this user show; None if that is nothing.

        Raises:
          OSError: it cannot be written.
        """
        if self.identity is None:
            return None
        from tfdist.launch.authority import write_identity

        write_identity(folder, self.identity)
        return folder

    def forget(self) -> None:
        """Show the tasks nothing any more."""
        if self._shown:
            use_identity(None, at=self._shown)
        self._shown.clear()

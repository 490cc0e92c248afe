"""The certificate of a task that other hosts reach: its key is made here and never leaves.

The port is bound, and told, before anybody can sign: until then the task shows a certificate of
its own authority, which nobody believes.
"""

from __future__ import annotations

import os

from tfdist.base.extras import require
from tfdist.base.settings import setting
from tfdist.errors import FailedPreconditionError
from tfdist.launch.exchange.messages import Cluster
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.security import HostPort, numeric_host
from tfdist.wire.common.tls import VARIABLE, use_identity


class OwnCertificate:
    """What a task shows of itself.

    Args:
      host: that it serves at.

    Raises:
      MissingExtra: it needs a certificate, and what makes keys is not installed.

    Attributes:
      request: to sign, PEM; "" where it needs none: other hosts do not reach it, the user has
        certificates of their own (TFDIST_TLS), or wants none (TFDIST_REMOTE=plain).
    """

    def __init__(self, host: str) -> None:
        self.request = ""
        if not _is_needed(host):
            return
        require("cryptography")
        from tfdist.launch.authority import Authority, new_request

        key, request = new_request()
        self._key, self.request = key, request.decode()
        use_identity(Authority("not signed yet").identity([host]))

    def take(self, told: Cluster) -> None:
        """Show the certificate that has come from now on.

        Raises:
          FailedPreconditionError: none has come.
        """
        if not self.request:
            return
        if not told.certificate:
            raise FailedPreconditionError(
                "whoever started this task signed no certificate for it, and other hosts reach it: "
                "pip install 'tfdist[tls]' there; or, where only trusted machines reach it, "
                "TFDIST_REMOTE=plain"
            )
        use_identity(Identity(self._key, told.certificate.encode(), told.authority.encode()))


def _is_needed(host: str) -> bool:
    numeric = numeric_host(host)
    if numeric is None or HostPort(numeric, 0).is_loopback:
        return False
    remote = setting("TFDIST_REMOTE")
    return remote != "plain" and not (remote == "tls" and os.environ.get(VARIABLE))

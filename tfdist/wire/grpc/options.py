"""gRPC itself, and its connections' options; the other modules here take `grpc` from it.

Keepalive finds a half-open connection, to a process that is frozen or out of reach: no sign of life
for `alive` seconds asks for one, none for `silence` more ends the connection. Two of gRPC's
settings make that true: without `ping_timeout_ms` it takes a minute, without
`max_pings_without_data` it stops asking. Real TensorFlow servers take frequent asking for an attack
and end the connection, so they are not asked.
"""

from __future__ import annotations

import os
from typing import Any

from tfdist.runtime.resources.memory_limit import memory_limit
from tfdist.wire.common.refusals import HANDSHAKE
from tfdist.wire.common.timeouts import timeouts

# The C library decides when it is imported what it writes to stderr: nothing, unless the user
# wants it. What we set is not for processes that this one starts.
_IS_OURS = "GRPC_VERBOSITY" not in os.environ
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# With epoll, a few in a hundred forked children abort (grpc/grpc#43055). It is read at the first
# use, not at the import, so that it has to stay.
os.environ.setdefault("GRPC_POLL_STRATEGY", "poll")
import grpc  # noqa: E402

if _IS_OURS:
    del os.environ["GRPC_VERBOSITY"]

Options = list[tuple[str, Any]]

# Comes with the errors of a server; those of the C library have nothing of that kind.
FROM_A_SERVER = ("tfdist-from", "server")

# Several servers on one port would share its calls among them, in silence.
_ONE_SERVER_PER_PORT = ("grpc.so_reuseport", 0)

_BOTH_SIDES: Options = [
    ("grpc.max_send_message_length", -1),
    # a message of an error may have 3,000 bytes, each of them three when it is escaped
    ("grpc.max_metadata_size", 64 * 1024),
    ("grpc.absolute_max_metadata_size", 64 * 1024),
]

_CLIENT: Options = [
    ("grpc.max_receive_message_length", -1),
    # Each caller has its own connection: one that was refused a moment ago does not make a new
    # one wait.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),  # a call goes out once
    ("grpc.service_config_disable_resolution", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # by default a name is asked for every 30 s at most; who is started again elsewhere under his
    # name, as a pod is, would be found that late
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
]
_OF_CONNECT = 0.9  # what an attempt may take, so that it tells why before the call's time is up


def server_options() -> Options:
    """Return the options of a server."""
    patient: Options = [("grpc.http2.max_ping_strikes", 0)]  # however often a client asks
    patient.append(("grpc.server_handshake_timeout_ms", int(HANDSHAKE * 1000)))
    return [_ONE_SERVER_PER_PORT, *_BOTH_SIDES, *_largest(), *_keepalive(), *patient]


def _largest() -> Options:
    """Return what refuses messages that have no place in this process, before they are read."""
    limit = memory_limit().process
    return [("grpc.max_receive_message_length", int(limit) if limit < 2**31 else -1)]


def client_options(peer: str) -> Options:
    """Return the options of a connection.

    Args:
      peer: "tfdist" or "tensorflow": what runs at the other end.
    """
    # A server that two hundred call at once takes connections, and is silent for seconds.
    attempt = [("grpc.min_reconnect_backoff_ms", int(_OF_CONNECT * timeouts().connect * 1000))]
    keepalive = _keepalive() if peer == "tfdist" else []
    return [*_BOTH_SIDES, *_CLIENT, *attempt, *keepalive]


def _keepalive() -> Options:
    limits = timeouts()
    return [
        ("grpc.keepalive_time_ms", int(limits.alive * 1000)),
        ("grpc.keepalive_timeout_ms", int(limits.silence * 1000)),
        ("grpc.http2.ping_timeout_ms", int(limits.silence * 1000)),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.keepalive_permit_without_calls", 0),
    ]


__all__ = ["FROM_A_SERVER", "Options", "client_options", "grpc", "server_options"]

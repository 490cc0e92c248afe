"""What can be seen of a server from outside: what its steps wait for, its health, its memory.

Probes call by plain gRPC and keep no connection, so that they neither hold up what they look at
nor depend on the links that are under test.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

from tfdist.protos import pb
from tfdist.tracing.waits import foremost
from tfdist.wire.grpc.options import grpc
from tfdist.wire.services.inspection import report_from

PATIENCE = 5.0  # seconds
MIB = 2**20  # bytes
_SIZES = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
# a channel of its own for each probe: a probe after a restart must not wait for a reconnection
_OPTIONS = [*_SIZES, ("grpc.use_local_subchannel_pool", 1)]


def ask(address: str, path: str, request: Any, answer: Any, patience: float = PATIENCE) -> Any:
    """Return a server's answer to one call.

    Args:
      address: "HOST:PORT".
      path: "/SERVICE/METHOD".
      request: a message.
      answer: class of the answer.
      patience: seconds.

    Raises:
      grpc.RpcError: what it answered instead, or that it did not.
    """
    with grpc.insecure_channel(address, _OPTIONS) as channel:
        method = channel.unary_unary(
            path, request_serializer=_bytes, response_deserializer=answer.FromString
        )
        return method(request, timeout=patience, wait_for_ready=True)


def waits(address: str, task: str) -> list[str]:
    """Return "NODE: WHAT FOR" of all that waits now on a task, without what follows from it.

    Args:
      address: of its server.
      task: "/job:J/task:I".
    """
    report = report_from(ask(address, "/tfdist.Inspection/Why", pb.WhyRequest(), pb.WhyResponse))
    own = task.replace("/task", "/replica:0/task")
    return [each.told for each in foremost(report.waits) if each.task == own and each.text]


def health(address: str) -> str:
    """Return the name of what gRPC's health check says: "SERVING" or "NOT_SERVING"."""
    answer = ask(
        address, "/grpc.health.v1.Health/Check", pb.HealthCheckRequest(), pb.HealthCheckResponse
    )
    return str(pb.HealthCheckResponse.ServingStatus.Name(answer.status))


def peak(pid: int) -> int:
    """Return the most memory, in bytes, that a process had at a time."""
    return _status(pid, "VmHWM") * 1024


def memory(pid: int) -> int:
    """Return the memory, in bytes, that a process has now."""
    return _status(pid, "VmRSS") * 1024


def threads(pid: int) -> int:
    """Return the number of a process's threads, those of C libraries included."""
    return _status(pid, "Threads")


def ticks(pid: int) -> int:
    """Return how long a process has had a core so far, in ticks of the system's clock."""
    columns = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(columns[11]) + int(columns[12])  # in the program, and in the system for it


def files(pid: int) -> int:
    """Return the number of a process's open files, sockets and pipes."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def children(pid: int) -> list[int]:
    """Return the ids of a process's children that were not waited for yet."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]


def is_free(address: str) -> bool:
    """Return whether a port can be bound now, as another program would bind it."""
    host, _, port = address.rpartition(":")
    with socket.socket() as taker:
        taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taker.bind((host, int(port)))
            taker.listen()
        except OSError:
            return False
    return True


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    assert found, f"no {name} in /proc/{pid}/status"
    return int(found[1])


def _bytes(message: Any) -> bytes:
    return message.SerializeToString()  # type: ignore[no-any-return]

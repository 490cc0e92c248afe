"""Whether a process is called by frames, and which way: as its answer to `Hello` says.

Where that does not lead to the process that said so, it is called by gRPC.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from tfdist.base.settings import setting
from tfdist.errors import OpError, UnavailableError
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common.host import this_host
from tfdist.wire.common.security import LOOPBACK, LOOPBACK_NAMES, WILDCARDS, split_address
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.tcp import TcpAddress
from tfdist.wire.frames.tls import TlsAddress
from tfdist.wire.frames.unix_sockets import UnixPath, name_at
from tfdist.wire.frames.way import Way
from tfdist.wire.service_methods import BELONG, INSPECTION

_CHECK = 1.0  # seconds in which frames to another host have to be answered at first
_told: set[str] = set()  # addresses of which the user was told


def hello_request() -> bytes:
    """Return what is asked of a process, which says then where it takes frames."""
    host = this_host() if _wants_frames() else ""  # who does not say so is not told of a port
    return bytes(pb.HelloRequest(client=f"process {os.getpid()}", host=host).SerializeToString())


def is_of_this_host(hello: pb.HelloResponse) -> bool:
    """Return whether a process is one of this host, by its answer."""
    return bool(hello.host == this_host())


def _wants_frames() -> bool:
    return setting("TFDIST_TRANSPORT") != "grpc"


def frames_way(
    address: str, hello: pb.HelloResponse, is_here: bool, is_encrypted: bool
) -> Way | None:
    """Return the way to a process by frames; None if there is none, or none is wanted.

    Args:
      address: "HOST:PORT" of the process.
      hello: its answer.
      is_here: whether it is one of this host.
      is_encrypted: whether gRPC reaches it so.
    """
    if not _wants_frames():
        return None
    if is_here:
        return UnixPath(hello.side_path) if hello.side_path else None
    host, port = split_address(address)[0], hello.frames_port
    if not port:
        return None
    if is_encrypted:
        return TlsAddress(address, host, port)
    return TcpAddress(LOOPBACK if host in LOOPBACK_NAMES | WILDCARDS else host, port)


def near_caller(address: str) -> FramesCaller | None:
    """Return what calls a server of this host that is found by its address alone; None if none is.

    Who has a certificate to show, or wants gRPC, finds no server so. Nothing is waited for.
    """
    name = name_at(address, this_host()) if _wants_frames() else ""
    if not name:
        return None
    try:
        return FramesCaller(UnixPath(name, is_patient=False), partial(lost_error, address))
    except UnavailableError:
        return None


def frames_caller(
    address: str, way: Way, hello: pb.HelloResponse, name: str
) -> FramesCaller | None:
    """Return what calls a process by frames, once it is known to reach it; None if it does not.

    Args:
      address: "HOST:PORT" of the process.
      way: see `frames_way`.
      hello: its answer.
      name: of who calls.
    """
    try:
        return _checked_caller(address, way, hello, name)
    except OpError as error:  # a socket of another container, say, or a firewall
        if not isinstance(way, UnixPath):
            _tell_of_detour(address, error)
        return None


def _checked_caller(address: str, way: Way, hello: pb.HelloResponse, name: str) -> FramesCaller:
    if isinstance(way, UnixPath):
        return FramesCaller(way, partial(lost_error, address))
    client = pb.AttachRequest(client=name).SerializeToString()
    caller = FramesCaller(way, partial(lost_error, address), (BELONG, client))
    try:
        answer = caller.call(f"{INSPECTION}Hello", [hello_request()], _CHECK)
        if parse_message(pb.HelloResponse, answer).incarnation != hello.incarnation:
            raise UnavailableError(f"another server answers at {way}")
    except BaseException:
        caller.close()
        raise
    return caller


def _tell_of_detour(address: str, error: OpError) -> None:
    if address not in _told:
        _told.add(address)
        print(
            f"tfdist: {address} is called by gRPC only, which is slower: {error.message}. A "
            "firewall between the hosts may be the reason; TFDIST_FRAMES_PORT of the server names "
            "the port to open",
            file=sys.stderr,
        )


def lost_error(address: str) -> UnavailableError:
    """Return the error of what was under way when the process at `address` was lost."""
    return UnavailableError(
        f"the process at {address} was lost: it has ended, is frozen or out of reach. Whether what "
        "was under way took effect there is not known; when a server runs there again, use a new "
        "session"
    )

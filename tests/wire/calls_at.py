"""Services asked by their messages as they are: what a program of any language could send."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from tests.wire.transports import Outcomes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.tensor_proto import attr_to_proto, make_tensor_proto
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common import status
from tfdist.wire.common.calls import Caller
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.unix_sockets import UnixPath
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.service_methods import HEALTH, INSPECTION, MASTER, WORKER

MASTER_METHODS = {
    "CloseSession", "CreateSession", "ExtendSession", "ListDevices", "MakeCallable",
    "PartialRunSetup", "ReleaseCallable", "Reset", "RunCallable", "RunStep",
}  # fmt: skip
PACKAGES = {"tfdist": INSPECTION, "grpc.health.v1": HEALTH}
WAYS = ("grpc", "local path")
_PATIENCE = 60.0  # seconds in which every answer comes, on a busy machine

_numbers = itertools.count(1)


def path_of(request: Any) -> str:
    """Return the path of the method that takes `request`, which its name tells."""
    name = type(request).DESCRIPTOR.name.removesuffix("Request")
    if name == "HealthCheck":
        name = "Check"
    package = type(request).DESCRIPTOR.file.package
    return PACKAGES.get(package, MASTER if name in MASTER_METHODS else WORKER) + name


def response_class(request: Any) -> Any:
    """Return the class of the answer to `request`."""
    return getattr(pb, type(request).DESCRIPTOR.name.removesuffix("Request") + "Response")


class Asker:
    """Sends requests by one caller.

    Args:
      caller: the way to a server.
    """

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def ask(self, request: Any, timeout: float | None = _PATIENCE) -> Any:
        """Return the response to `request`; raise its error, also one that is in the body."""
        data = self.caller.call(path_of(request), [request.SerializeToString()], timeout)
        response = parse_message(response_class(request), data)
        if getattr(response, "status_code", 0):
            raise status.from_status(response.status_code, response.status_error_message, {})
        return response

    def begin(self, request: Any) -> Begun:
        """Send `request`, and do not wait."""
        return Begun(self.caller, request)

    # shorter words for what many tests say

    def session(self, *nodes: Any, config: Any = None, **versions: Any) -> str:
        """Return the handle of a new session with a graph of `nodes`."""
        request = pb.CreateSessionRequest(graph_def=graph(*nodes, **versions), config=config)
        return str(self.ask(request).session_handle)

    def run(self, handle: str, **fields: Any) -> dict[str, Any]:
        """Run a step; `feed` holds TensorProtos by name. Returns what was fetched, by name."""
        response = self.ask(step_request(handle, **fields))
        return {each.name: each.tensor for each in response.tensor}

    def callable(self, handle: str, **options: Any) -> int:
        """Return the number of a new callable."""
        request = pb.MakeCallableRequest(
            session_handle=handle, options=pb.CallableOptions(**options)
        )
        return int(self.ask(request).handle)


class Begun:
    """A call under way."""

    def __init__(self, caller: Caller, request: Any) -> None:
        self._class = response_class(request)
        self._outcomes = Outcomes()
        self.cancel = caller.begin(path_of(request), [request.SerializeToString()], self._outcomes)

    @property
    def is_over(self) -> bool:
        """Return whether there is an answer, or an error."""
        return bool(self._outcomes.told)

    def outcome(self) -> Any:
        """Return the response, or the error, once there is one."""
        [outcome] = self._outcomes.wait()
        if not isinstance(outcome, bytes):
            return outcome
        response = parse_message(self._class, outcome)
        if getattr(response, "status_code", 0):
            return status.from_status(response.status_code, response.status_error_message, {})
        return response


@contextmanager
def calls_at(address: str, way: str = "grpc") -> Iterator[Asker]:
    """Give what asks the server at `address`, in one of the `WAYS`."""
    with closing(GrpcCaller(address, "tensorflow")) as caller:
        if way == "grpc":
            yield Asker(caller)
            return
        hello = Asker(caller).ask(pb.HelloRequest())
        with closing(FramesCaller(UnixPath(hello.side_path))) as side:
            yield Asker(side)


def step_request(handle: str, feed: Any = (), **fields: Any) -> Any:
    """Return a RunStepRequest; `feed` holds (name, TensorProto) or a dict of them."""
    pairs = feed.items() if isinstance(feed, dict) else feed
    fields.setdefault("request_id", next(_numbers))
    return pb.RunStepRequest(
        session_handle=handle,
        feed=[pb.NamedTensorProto(name=name, tensor=tensor) for name, tensor in pairs],
        **fields,
    )


def graph(*nodes: Any, **versions: Any) -> Any:
    """Return a GraphDef."""
    return pb.GraphDef(node=nodes, versions=pb.VersionDef(**versions) if versions else None)


def node(name: str, op: str, *inputs: str, device: str = "", **attrs: Any) -> Any:
    """Return a NodeDef; attributes are plain values, tuples for shapes, and TensorProtos."""
    protos = {key: _attr(value) for key, value in attrs.items()}
    return pb.NodeDef(name=name, op=op, input=inputs, device=device, attr=protos)


def _attr(value: Any) -> Any:
    if isinstance(value, pb.TensorProto):
        return pb.AttrValue(tensor=value)
    return attr_to_proto([*map(_plain, value)] if isinstance(value, list) else _plain(value))


def _plain(value: Any) -> Any:
    return TensorShape(value) if isinstance(value, tuple) else value


def tensor(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Return the TensorProto of a value, as a program would make it."""
    return make_tensor_proto(value, dtype, shape)

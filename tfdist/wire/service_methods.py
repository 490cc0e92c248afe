"""What all services share: paths, plain calls, and the detection of calls that came twice."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tfdist.errors import AbortedError
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.interrupts import allowed_interrupts
from tfdist.tracing.simulated import note_device
from tfdist.wire.codec.codec import M, parse_message
from tfdist.wire.common.calls import Call, Caller, Method, Piece, Pieces

MASTER = "/tensorflow.MasterService/"
WORKER = "/tensorflow.WorkerService/"
INSPECTION = "/tfdist.Inspection/"
# an AttachRequest, without answer: whose a connection for frames is
BELONG = "/tfdist.SidePath/Belong"
# a RecvTensorRequest, whose key is "SESSION;TASK": of a session, and of who asks
FOLLOW_SESSION = "/tfdist.Rendezvous/FollowSession"
FOLLOW = "/tfdist.Rendezvous/Follow"  # a RecvTensorRequest, whose key is that of a route
# `codec.step_messages`: RunGraph and CleanupGraph between tasks of ours; END has no answer
RUN, END = "/tfdist.Step/Run", "/tfdist.Step/End"
HEALTH = "/grpc.health.v1.Health/"
LIVENESS = "liveness"  # the service that Health is asked for by who would end a dead server
OURS = "tfdist"  # in the devices that our servers tell of; real TensorFlow says nothing of a CPU

_REMEMBERED = 16_384  # request ids; who asks again does so within seconds


Request = TypeVar("Request", bound="pb.Message")


def plain_method(
    request_class: type[Request],
    answer: Callable[[Request], pb.Message],
    *,
    may_block: bool = False,
    used: Callable[[str, Call], None] | None = None,
) -> Method:
    """Return a method that answers a message with a message.

    Args:
      request_class: of the request.
      answer: takes the request and returns the response.
      may_block: whether `answer` gets a thread of its own.
      used: told first of the session that the request names, and of the call.
    """

    def handle(request: memoryview, call: Call) -> None:
        message = parse_message(request_class, request)
        if used is not None:
            used(message.session_handle, call)
        response = answer(message)
        call.respond([response.SerializeToString()])

    return Method(handle, may_block)


def ask(
    caller: Caller,
    path: str,
    request: pb.Message | list[Piece],
    response_class: type[M],
    timeout: float,
) -> M:
    """Return the response to a plain call; for errors see `Caller.call`. Ctrl-C ends it.

    Args:
      caller: the way to who is asked.
      path: of the method.
      request: a message, or the pieces of one.
      response_class: of the answer.
      timeout: seconds.
    """
    pieces: Pieces = request if isinstance(request, list) else [request.SerializeToString()]
    with allowed_interrupts():
        answer = caller.call(path, pieces, timeout)
    return parse_message(response_class, answer)


def new_request_id() -> int:
    """Return a random number that is not zero."""
    return secrets.randbits(63) | 1


class RecentRequests:
    """The request ids seen lately: a client may send a call again that it believes lost."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, request_id: int, what: str) -> None:
        """Remember a request; AbortedError if it came before. Zero is never remembered."""
        if not request_id:
            return
        with self._lock:
            known = request_id in self._seen
            self._seen[request_id] = None
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        if known:
            raise AbortedError(
                f"the same {what} was received twice (request {request_id}): it ran once, or still "
                "runs, and its answer is lost"
            )


def device_protos(devices: Iterable[Device]) -> Iterator[pb.DeviceAttributes]:
    """Yield the DeviceAttributes of devices."""
    for device in devices:
        yield pb.DeviceAttributes(
            name=device.name,
            device_type=device.device_type,
            memory_limit=device.memory_limit,
            physical_device_desc=device.description or OURS,
            incarnation=device.incarnation & (2**64 - 1),
            locality=pb.DeviceLocality(),
            xla_global_id=-1,
        )


def devices_from(protos: Iterable[pb.DeviceAttributes]) -> list[Device]:
    """Return the devices that DeviceAttributes describe."""
    return [_device(each) for each in protos]


def _device(told: pb.DeviceAttributes) -> Device:
    description = told.physical_device_desc
    note_device(told.name, description)
    about = "" if description == OURS else description
    return Device(told.name, told.device_type, told.memory_limit, told.incarnation, about)

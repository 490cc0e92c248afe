"""Whether a server serves, as one question from another process: for probes."""

from __future__ import annotations

from tfdist.errors import OpError
from tfdist.protos import pb
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.service_methods import HEALTH, ask


def state_of(address: str, service: str, timeout: float) -> str:
    """Return "SERVING" or "NOT_SERVING", or why there is no answer.

    Args:
      address: "HOST:PORT" of the server.
      service: what is asked for: "" and "readiness" whether it serves, "liveness" whether it
        answers at all.
      timeout: seconds.

    Raises:
      InvalidArgumentError: the address has no port.
    """
    caller = GrpcCaller(address)
    try:
        request = pb.HealthCheckRequest(service=service)
        answer = ask(caller, f"{HEALTH}Check", request, pb.HealthCheckResponse, timeout)
    except OpError as error:
        return error.message
    finally:
        caller.close()
    return str(pb.HealthCheckResponse.ServingStatus.Name(answer.status))

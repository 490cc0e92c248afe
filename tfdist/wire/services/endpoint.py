"""Endpoint: where a task is reached from other processes, by gRPC and by frames."""

from __future__ import annotations

import threading

from tfdist.errors import UnavailableError
from tfdist.runtime.task.task import Task
from tfdist.wire.common.calls import Call, Method
from tfdist.wire.common.loop import LOOP
from tfdist.wire.grpc.server import GrpcListener
from tfdist.wire.service_methods import MASTER, RUN, WORKER
from tfdist.wire.services.frames_listeners import FramesListeners
from tfdist.wire.services.inspection import Inspection
from tfdist.wire.services.master import MasterService
from tfdist.wire.services.runner import LoopRunner
from tfdist.wire.services.session_reaper import Presence, SessionReaper, here_of
from tfdist.wire.services.worker import WorkerService

_NEW_WORK = (
    f"{MASTER}CreateSession",
    f"{MASTER}RunStep",
    f"{MASTER}RunCallable",
    f"{WORKER}CreateWorkerSession",
    f"{WORKER}RunGraph",
    RUN,
)


class Endpoint:
    """A bound port, and what answers there once it is opened.

    Args:
      address: "HOST:PORT"; port 0 for a free one.

    Raises:
      AlreadyExistsError: the port is taken.
      InvalidArgumentError: `address` is none, or not of this machine.
      PermissionDeniedError: it can be reached from other machines, and nobody allowed that.
    """

    def __init__(self, address: str) -> None:
        self._grpc = GrpcListener(address)
        self._frames: FramesListeners | None = None
        self._runner: LoopRunner | None = None
        self._inspection: Inspection | None = None
        self._reaper: SessionReaper | None = None
        self._reason = ""  # why the server stops

    @property
    def port(self) -> int:
        """Return the port that is bound."""
        return self._grpc.port

    def open(self, task: Task) -> None:
        """Answer calls for `task`."""
        self._runner = runner = LoopRunner()
        self._frames = frames = FramesListeners(self._grpc.bound, self._grpc.is_encrypted)
        presence = Presence(here_of(self.port, frames.clients), set())
        self._inspection = Inspection(task, frames.path, presence.ours, frames.port)
        self._reaper = reaper = SessionReaper(presence, runner)
        methods = {
            **MasterService(task, runner, reaper).methods(),
            **WorkerService(task, runner, reaper).methods(),
            **self._inspection.methods(),
        }
        methods.update({path: self._unless_leaving(methods[path]) for path in _NEW_WORK})
        self._grpc.start(methods)
        frames.start(methods)

    def drain(self, reason: str) -> None:
        """Let nothing new begin, and tell everybody that the server stops."""
        self._reason = reason
        if self._inspection is not None:
            self._inspection.stop(reason)

    def _unless_leaving(self, method: Method) -> Method:
        """Return `method`, refused once the server stops."""

        def handle(request: memoryview, call: Call) -> None:
            if self._reason:
                raise UnavailableError(
                    f"{self._reason} and begins nothing new; start it again, or use another one"
                )
            method.handle(request, call)

        return method._replace(handle=handle)

    def close(self) -> None:
        """Answer no more, and free the port."""
        if LOOP.is_current:  # somebody's garbage: it cannot be waited for here
            threading.Thread(target=self.close, name="tfdist-close", daemon=True).start()
            return
        if self._reaper is not None:
            self._reaper.stop()
        self._grpc.stop(0.0)
        if self._frames is not None:
            self._frames.stop()
            self._frames = None
        if self._runner is not None:
            self._runner.stop()
            self._runner = None

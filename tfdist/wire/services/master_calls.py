"""Calls that run steps: what a client asked for, from its request to the one answer.

Source: docs/wire.md section 2.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.base.aliases import Outcome, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.names import split_tensor_name
from tfdist.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OpError
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.resources.exhausted import check_fed
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.requests import PreparedStep, StepResult
from tfdist.runtime.task.master import Master
from tfdist.wire.codec import codec
from tfdist.wire.codec.metadata import run_metadata
from tfdist.wire.common import status
from tfdist.wire.common.calls import Call, Pieces, as_op_error
from tfdist.wire.common.timeouts import timeouts

_EARLIER = 0.02  # seconds


def _nothing() -> None:
    """Call off what was never begun, or has ended."""


class RunStepCall:
    """One step that a client asked for."""

    def __init__(
        self,
        master: Master,
        runner: Runner,
        call: Call,
        handle: str,
        signature: Signature,
        options: pb.RunOptions,
    ) -> None:
        self.call, self.handle, self.signature, self.options = call, handle, signature, options
        self.feeds: list[Any] = []
        self.in_body = self.is_bare = False
        self._master, self._runner = master, runner
        self._prepared: PreparedStep | None = None
        self._answered = threading.Lock()  # taken, and kept, by whoever answers
        self._call_off: Callable[[], None] = _nothing

    def start(self) -> None:
        """Run the step; errors are answers too."""
        try:
            self._prepared = prepared = self._master.prepare(self.handle, self.signature)
            _check_feeds(self.signature.feeds, prepared.feed_types, self.feeds)
            check_fed(self.signature.feed_names, self.feeds)
            timeout = self._timeout()
            step = self._master.run_step_async(
                prepared,
                self.feeds,
                timeout,
                self.options.trace_level == pb.RunOptions.FULL_TRACE,
                self._runner,
                self._end,
            )
        except Exception as error:
            self._fail(as_op_error(error))
            return
        if timeout is not None:
            later = self._runner.later
            self._call_off = later(timeout + timeouts().cancel, lambda: self._give_up(step.error))
            if self._answered.locked():  # meanwhile
                self._call_off()
                self._call_off = _nothing
        self.feeds = []  # the step has them; who feeds much waits for their memory
        self.call.on_cancel(lambda: step.abort(CancelledError("the client gave the step up")))

    def _timeout(self) -> float | None:
        """Return seconds that the step may take.

        A client of TensorFlow's gives up at that very moment itself; it is told a little before,
        so that it learns what the step waits for.
        """
        seconds = self.options.timeout_in_ms / 1000
        return max(seconds - _EARLIER * self.in_body, seconds / 2) if seconds > 0 else None

    def _give_up(self, error: BaseException | None) -> None:
        """Answer though a kernel still computes, which nobody can stop; what it gives is lost."""
        if self._answered.acquire(blocking=False):
            told = f"the step did not end within its timeout of {self.options.timeout_in_ms} ms"
            late = DeadlineExceededError(f"{told}; it still computes")
            self._fail(error if isinstance(error, OpError) else late)

    def _end(self, outcome: StepResult | BaseException) -> None:
        self._call_off()
        self._call_off = _nothing  # the timer has this call, and its step
        if not self._answered.acquire(blocking=False):
            return
        if isinstance(outcome, BaseException):
            self._fail(as_op_error(outcome))
            return
        try:
            self.call.respond(self._response(outcome))
        except Exception as error:  # what was fetched is no tensor, say
            self._fail(as_op_error(error))

    def _response(self, result: StepResult) -> Pieces:
        assert self._prepared is not None
        metadata = run_metadata(self._prepared, result, self.options)
        if self.is_bare:
            response = pb.RunCallableResponse(metadata=metadata)
            names = self.signature.fetch_names
            return codec.bare_message_pieces(response, 1, result.values, names)
        tensors = zip(self.signature.fetch_names, result.values, strict=True)
        return codec.message_pieces(pb.RunStepResponse(metadata=metadata), 1, tensors)

    def _fail(self, error: OpError) -> None:
        _fail(self.call, error, self.in_body)


class PartialRunCall:
    """One call that goes on with a partial run."""

    def __init__(self, master: Master, runner: Runner, call: Call, request: pb.Message) -> None:
        self._master, self._runner = master, runner
        self._call, self._request = call, request
        self._call_off: Callable[[], None] = _nothing

    def start(self, feeds: Iterable[tuple[str, TensorValue]]) -> None:
        """Feed and fetch; errors are answers too."""
        request = self._request
        runs = self._master.partial_runs
        try:
            run = runs.find(request.session_handle, request.partial_run_handle)
            given = {_endpoint(name): value for name, value in feeds}
            types = dict(zip(run.signature.feeds, run.prepared.feed_types, strict=True))
            known = [each for each in given if each in types]
            _check_feeds(known, [types[e] for e in known], [given[e] for e in known])
            check_fed(map(str, known), [given[e] for e in known])
            fetches = [_endpoint(name) for name in dict.fromkeys(request.fetch)]
            if request.options.timeout_in_ms > 0:
                seconds = request.options.timeout_in_ms / 1000
                self._call_off = self._runner.later(seconds, lambda: run.time_out(seconds))
            run.go_on(given, fetches, self._end)
        except Exception as error:
            self._end(error)
            return
        gone = CancelledError("the client gave the step up")
        self._call.on_cancel(lambda: run.abort(gone))

    def _end(self, outcome: Outcome) -> None:
        self._call_off()
        if isinstance(outcome, BaseException):  # not raised: it would keep the call
            self._fail(outcome)
            return
        try:
            tensors = zip(dict.fromkeys(self._request.fetch), outcome, strict=True)
            response = pb.RunStepResponse(metadata=pb.RunMetadata())
            self._call.respond(codec.message_pieces(response, 1, tensors))
        except Exception as error:  # what was fetched is no tensor, say
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        _fail(self._call, as_op_error(error), self._request.store_errors_in_response_body)


def _fail(call: Call, error: OpError, in_body: bool) -> None:
    if not in_body:
        call.fail(error)
        return
    call.respond([status.in_body(pb.RunStepResponse, error).SerializeToString()])


def _check_feeds(
    endpoints: Iterable[Endpoint], wanted: Iterable[DType], feeds: Iterable[TensorValue]
) -> None:
    for (name, port), dtype, value in zip(endpoints, wanted, feeds, strict=True):
        got = dtypes.as_dtype(getattr(value, "dtype", object))
        if got != dtype:
            raise InvalidArgumentError(
                f"{name}:{port} is {dtype.name}, but is fed {got.name}"
            ).at_node(name, "")


def signature_of(feeds: Iterable[str], fetches: Iterable[str], targets: Iterable[str]) -> Signature:
    """Return what a request feeds, fetches and runs, by names."""
    return Signature(
        tuple(map(_endpoint, feeds)),
        tuple(map(_endpoint, fetches)),
        tuple(name.partition(":")[0] for name in targets),
    )


def _endpoint(name: str) -> Endpoint:
    try:
        return split_tensor_name(name)
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None

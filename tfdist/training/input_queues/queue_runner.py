"""QueueRunner: threads that fill a queue, each by running one operation again and again.

Source: TF 1.15 API documentation, tf.train.QueueRunner, tf.train.start_queue_runners.
"""

from __future__ import annotations

import logging
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist import errors
from tfdist.errors import OpError, OutOfRangeError
from tfdist.graph import scopes
from tfdist.graph.stacks import get_default_session
from tfdist.ops.variables.collections import GraphKeys
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]

_LOG = logging.getLogger("tensorflow")


class QueueRunner:
    """Operations that fill a queue, and the threads that run them.

    Each thread runs its operation until the data end, which is no error; the last one to end
    closes the queue, so that those who take from it see the end too.

    Args:
      queue: to be filled.
      enqueue_ops: list of operations, one thread each; one may stand there several times.
      close_op: closes the queue when the data have ended; `queue.close()` by default.
      cancel_op: closes it, and lets those fail who wait for room; run when a coordinator stops.
      queue_closed_exception_types: tuple of the errors that are the end of the data;
        OutOfRangeError by default.
      queue_runner_def: a QueueRunnerDef, instead of all these.
      import_scope: scope in which the names of `queue_runner_def` are found.

    Raises:
      ValueError: queue or operations are missing, or given as well as a `queue_runner_def`.
      TypeError: `queue_closed_exception_types` is no tuple of error classes.

    Example:
      >>> queue = FIFOQueue(10, "float32", shapes=[()])
      >>> runner = QueueRunner(queue, [queue.enqueue(1.0)] * 2)
      >>> total = reduce_sum(queue.dequeue_many(100))
      >>> with Session() as session:
      ...     coordinator = Coordinator()
      ...     threads = runner.create_threads(session, coordinator, start=True)
      ...     float(session.run(total))
      ...     coordinator.request_stop()
      ...     coordinator.join(threads)
      100.0
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        self._lock = threading.Lock()
        # threads that have not ended, by session, so that none gets two sets of them
        self._running: Any = weakref.WeakKeyDictionary()
        self._exceptions: list[BaseException] = []
        if queue_runner_def is None:
            self._from_arguments(queue, enqueue_ops, close_op, cancel_op)
            self._closed_types = _closed_types(queue_closed_exception_types)
        elif queue or enqueue_ops:
            raise ValueError("queue_runner_def and queue are mutually exclusive.")
        else:
            self._from_message(pb.reparse(queue_runner_def), import_scope)

    def _from_arguments(self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self._cancel_op = cancel_op

    def _from_message(self, message: Any, import_scope: str | None) -> None:
        graph = scopes.get_default_graph()
        prefix = f"{import_scope}/" if import_scope else ""

        def find(name: str) -> Any:
            return graph.as_graph_element(prefix + name)

        self._queue = find(message.queue_name)
        self._enqueue_ops = [find(name) for name in message.enqueue_op_name]
        self._close_op, self._cancel_op = find(message.close_op_name), find(message.cancel_op_name)
        codes = message.queue_closed_exception_types or [errors.OUT_OF_RANGE]
        self._closed_types = tuple(map(errors.exception_type_from_error_code, codes))

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """Return the runner that a QueueRunnerDef describes, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return a QueueRunnerDef: the names of all nodes.

        Args:
          export_scope: cut off the names; None is returned if the queue is not in that scope.
        """
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.name.startswith(prefix):
            return None
        return pb.QueueRunnerDef(
            queue_name=self.name.removeprefix(prefix),
            enqueue_op_name=[op.name.removeprefix(prefix) for op in self._enqueue_ops],
            close_op_name=self._close_op.name.removeprefix(prefix),
            cancel_op_name=self._cancel_op.name.removeprefix(prefix),
            queue_closed_exception_types=[kind.error_code for kind in self._closed_types],
        )

    @property
    def queue(self) -> Any:
        """Return the queue; its node, if the runner was made from a message."""
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        """Return the operations that fill the queue."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """Return the operation that closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """Return the operation that closes the queue and cancels what waits for room."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[OpError], ...]:
        """Return the errors that are the end of the data."""
        return self._closed_types

    @property
    def name(self) -> str:
        """Return the name of the queue's node."""
        return self._queue.name  # type: ignore[no-any-return]

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """Return what threads raised that have no coordinator to tell it."""
        return self._exceptions

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Return threads that fill the queue: one for each operation.

        With a coordinator there is one more, which runs `cancel_op` when that stops.

        Args:
          sess: Session that runs the operations.
          coord: Coordinator that is told of errors, and whose stop ends the threads.
          daemon: whether the process may end before the threads.
          start: whether they are started; else the caller does that.

        Returns:
          Nothing, if threads for this session have not ended yet.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions = []
        jobs: list[Any] = [
            (op.name, self._fill, (sess, index, coord))
            for index, op in enumerate(self._enqueue_ops)
        ]
        if coord is not None:
            jobs.append(("close_on_stop", self._cancel_on_stop, (sess, coord)))
        threads = [self._thread(daemon, *job) for job in jobs]
        _UNFINISHED.update(dict.fromkeys(threads, weakref.ref(sess)))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _thread(
        self, daemon: bool, name: str, target: Callable[..., None], args: Any
    ) -> threading.Thread:
        full_name = f"QueueRunnerThread-{self.name}-{name}"
        return threading.Thread(target=target, args=args, name=full_name, daemon=daemon)

    def _fill(self, session: Any, index: int, coord: Any) -> None:
        """Run one of the operations until the data end, the coordinator stops, or it fails."""
        has_ended = False
        goes_on = (lambda: not coord.should_stop()) if coord is not None else (lambda: True)
        try:
            self._run(goes_on, session, index)
        except self._closed_types:
            has_ended = True
        except Exception as error:
            self._report(session, error, coord)
        finally:
            self._end(session, has_ended)

    def _run(self, goes_on: Callable[[], bool], session: Any, index: int) -> None:
        """Run one of the operations again and again."""
        _run_while(goes_on, session, self._enqueue_ops[index])

    def _end(self, session: Any, has_ended: bool) -> None:
        """Note that a thread ends; the last one closes the queue if the data have ended."""
        with self._lock:
            self._running[session] -= 1
            is_last = not self._running[session]
        if has_ended and is_last:
            self._close(session, self._close_op)

    def _report(self, session: Any, error: Exception, coord: Any) -> None:
        if coord is not None:
            if not (coord.joined and session._closed):  # then nobody asks any more
                coord.request_stop(error)
            return
        with self._lock:
            self._exceptions.append(error)
        if not session._closed:  # who closes a session wants its threads to end
            raise error

    def _cancel_on_stop(self, session: Any, coord: Any) -> None:
        coord.wait_for_stop()
        self._close(session, self._cancel_op)

    def _close(self, session: Any, op: Any) -> None:
        """Run an operation that closes the queue; with its session gone, nobody needs it."""
        try:
            session.run(op)
        except Exception as error:
            if not session._closed:  # somebody may wait for ever now
                _LOG.warning("QueueRunner of %r could not run %r: %s", self.name, op.name, error)


def _run_while(goes_on: Callable[[], bool], session: Any, op: Any) -> None:
    """Run an operation again and again; what wraps a session sees every run."""
    if isinstance(session, BaseSession) and type(session).run is BaseSession.run:
        session._run_while(goes_on, op)
    while goes_on():
        session.run(op)


def _closed_types(given: Any) -> tuple[type[OpError], ...]:
    if given is None:
        return (OutOfRangeError,)
    if (
        not isinstance(given, tuple)
        or not given
        or not all(isinstance(each, type) and issubclass(each, OpError) for each in given)
    ):
        raise TypeError(
            "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
            f"saw: {given}"
        )
    return given


# Threads -> their sessions. They would keep alive a process whose main thread fell to Ctrl-C.
_UNFINISHED: Any = weakref.WeakKeyDictionary()


def runner_threads(session: Any) -> set[threading.Thread]:
    """Return the threads that run operations of queue runners in a session, and have not ended."""
    return {
        thread for thread, of in list(_UNFINISHED.items()) if of() is session and thread.is_alive()
    }


def _end_after_interrupt() -> None:
    """As the process ends because of Ctrl-C, end the threads that it would wait for."""
    if getattr(sys, "last_type", None) is not KeyboardInterrupt:
        return
    for thread, session in list(_UNFINISHED.items()):
        if thread.is_alive() and session() is not None:
            session().close()


# called before Python waits for threads; `atexit` comes after that
getattr(threading, "_register_atexit", lambda _: None)(_end_after_interrupt)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Add a runner to a collection of the graph, from which `start_queue_runners` takes it."""
    scopes.add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Any = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start the threads of all runners of a graph; see `QueueRunner.create_threads`.

    Args:
      sess: Session; the default session by default.
      coord: Coordinator.
      daemon: whether the process may end before the threads.
      start: whether they are started.
      collection: that the runners are taken from.

    Returns:
      The threads.

    Raises:
      ValueError: there is no session.
      TypeError: `sess` is none.
    """
    session = get_default_session() if sess is None else sess
    if session is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)"
        )
    if not isinstance(session, BaseSession):
        if type(session).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # those start them themselves
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(session)}")
    runners: Iterable[QueueRunner] = session.graph.get_collection(collection)
    if not runners:
        _LOG.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. "
            "You can safely remove the call to this deprecated function."
        )
    with session.graph.as_default():
        return [
            thread
            for runner in runners
            for thread in runner.create_threads(session, coord, daemon, start)
        ]

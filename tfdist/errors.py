"""One exception class per status code of TensorFlow's protocol.

An error says what was got, what was wanted and what there is to choose from; whoever knows more
adds it on the way up: the runtime the op and its device, the session the line that made the op.

Source: TF 1.15 API documentation, tf.errors; canonical status codes 0 to 16 of the protocol.
"""

from __future__ import annotations

from typing import Any, Self

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """A step, or the building of a graph, failed; subclasses say in which way.

    Made as `InvalidArgumentError(message)`, or with TensorFlow's three arguments,
    `InvalidArgumentError(node_def, op, message)`.

    Attributes:
      message: what happened, without op, device and line.
      op: the `Operation` that failed, or None.
      node_def: its NodeDef, or None.
      error_code: int, the status code that crosses the wire.
      device: full name of the device it ran on, or "".
      node_name: the op's name where only that is known, or "".
      created_at: the line of the user's program that made the op, or "".
      is_derived: whether it only follows from another error, which says more.
      never_left: whether the call that failed was not sent at all.
      is_restart: whether a task has probably lost its state by a restart.
      remote_traceback: of the Python error behind it, if that was in another process.
      reason: why, in a few words, where the message says more.
    """

    error_code = UNKNOWN
    is_derived = False
    is_restart = False
    never_left = False
    remote_traceback = ""
    reason = ""

    def __init__(
        self,
        *args: Any,
        error_code: int | None = None,
        node_def: Any = None,
        op: Any = None,
        message: str = "",
    ) -> None:
        if len(args) == 4:
            *args, error_code = args  # type: ignore[assignment]
        if len(args) == 3:
            node_def, op, message = args
        elif args:
            message = args[0]
        super().__init__(message)
        self.message: str = message
        self.op, self.node_def = op, node_def
        self.device = self.created_at = ""
        self.node_name: str = getattr(op, "name", "")
        if error_code is not None:
            self.error_code = error_code

    def at_node(self, name: str, device: str) -> Self:
        """Return this error, told at which node it happened; the first to tell wins."""
        if self.node_name in ("", name):
            self.node_name, self.device = name, self.device or device
        return self

    def made_by(self, op: Any) -> Self:
        """Return this error with the operation that failed and the line that made it."""
        self.op = self.op or op
        self.node_def = self.node_def or getattr(op, "node_def", None)
        self.created_at = self.created_at or getattr(op, "created_at", "")
        return self

    def __str__(self) -> str:
        where = {"node": self.node_name, "device": self.device, "made at": self.created_at}
        told = [f"{what}: {value}" for what, value in where.items() if value]
        return "\n  ".join([self.message, *told])


class CancelledError(OpError):
    """The step was stopped: its session was closed, or another part of it failed first."""

    error_code = CANCELLED


class UnknownError(OpError):
    """A kernel or a user's function raised an error that has no class here."""

    error_code = UNKNOWN


class InvalidArgumentError(OpError):
    """An argument is wrong whatever the state of the system; see FailedPreconditionError."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    """The step did not end within its timeout; what it waited for is named."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A node, tensor, file or resource of this name does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError):
    """Something of this name exists and is not the same."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller is known but may not do this; see UnauthenticatedError."""

    error_code = PERMISSION_DENIED


class UnauthenticatedError(OpError):
    """The caller did not say who it is."""

    error_code = UNAUTHENTICATED


class ResourceExhaustedError(OpError):
    """Memory, or a bounded table, is full."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in the state that the op needs, as with an uninitialised variable."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The session or the task it ran on is gone; a new session may succeed."""

    error_code = ABORTED


class OutOfRangeError(OpError):
    """The end of the data: a closed queue has too few elements."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The op, or this use of it, has no kernel."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """A rule of the runtime itself was broken: a defect here, not in the user's program."""

    error_code = INTERNAL


class UnavailableError(OpError):
    """A task cannot be reached now; trying again later may help."""

    error_code = UNAVAILABLE


class DataLossError(OpError):
    """Stored data cannot be read back."""

    error_code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """A symbol was used as if it had a value, as in `if tensor:`."""


_CLASSES = {cls.error_code: cls for cls in OpError.__subclasses__()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Return the class of `error_code`; KeyError if there is none."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """Return the status code of an error class."""
    return cls.error_code


class raise_exception_on_not_ok_status:  # TensorFlow's name
    """A block whose errors are exceptions as they are; old programs open it around calls.

    Example:
      >>> with errors.raise_exception_on_not_ok_status() as status:
      ...     pass
      >>> status is None
      True
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, *failure: object) -> None:
        return None

"""`Variable`: a value that outlives steps."""

from __future__ import annotations

from tfdist.base.aliases import TensorValue
from tfdist.errors import FailedPreconditionError
from tfdist.runtime.resources.inplace_values import InplaceValue


class Variable(InplaceValue):
    """A variable's value, or None before it is initialised.

    Who has read the array keeps what was read. `shape` is what its node promises of a first value,
    None for nothing.
    """

    __slots__ = ("name", "shape")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.shape: tuple[int | None, ...] | None = None

    def read(self) -> TensorValue:
        """Return the value; FailedPreconditionError before it is initialised."""
        value = self.value
        if value is None:
            value = self.look()
            if value is None:
                raise self.absent()
        return value

    def absent(self) -> FailedPreconditionError:
        """Return the error for an op that needs a value."""
        return FailedPreconditionError(
            f"Attempting to use uninitialized value {self.name}; run its initializer first, "
            "as in session.run(tf.global_variables_initializer())"
        )

    def assign(self, value: TensorValue) -> None:
        """Set the value."""
        with self.lock:
            self.value = value

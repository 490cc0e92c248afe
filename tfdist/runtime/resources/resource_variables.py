"""`ResourceVariable`: a value that outlives steps, which ops reach by a handle.

It is no `Variable`: where a value is wanted, a handle does not stand for it.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.base.dtypes import DType
from tfdist.errors import FailedPreconditionError, NotFoundError
from tfdist.runtime.resources.inplace_values import InplaceValue


class ResourceVariable(InplaceValue):
    """A variable's value, or None before it is initialised, and its type from then on.

    Who has read the array keeps what was read.
    """

    __slots__ = ("container", "dtype", "key", "name")

    def __init__(self, name: str, container: bytes) -> None:
        super().__init__()
        self.name = name
        self.container = container.decode() or "localhost"
        self.key = (container, name.encode())
        self.dtype: Any = None

    def read(self) -> TensorValue:
        """Return the value; FailedPreconditionError before it is initialised."""
        value = self.value
        if value is None:
            value = self.look()
            if value is None:
                raise FailedPreconditionError(
                    f"Error while reading resource variable {self.name} from Container: "
                    f"{self.container}. This could mean that the variable was uninitialized. Not "
                    f"found: {self._absence()}"
                )
        return value

    def held(self) -> TensorValue:
        """Return the value for an op that works on it; NotFoundError before it is initialised."""
        value = self.look()
        if value is None:
            raise self.absent()
        return value

    def absent(self) -> NotFoundError:
        """Return the error for an op that needs a value."""
        return NotFoundError(self._absence())

    def _absence(self) -> str:
        return f"Resource {self.container}/{self.name}/N10tensorflow3VarE does not exist."

    def assign(self, value: TensorValue, dtype: DType) -> None:
        """Set the value, and its type."""
        with self.lock:
            self.dtype = dtype
            self.value = value

    def destroy(self) -> bool:
        """Forget the value; returns whether there was one."""
        with self.lock:
            was_there = self.value is not None
            self.value = self.dtype = None
        return was_there

"""TensorHandle: what fetching a tensor's handle gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.aliases import TensorLike, TensorValue
from tfdist.base.dtypes import DType, DTypeLike
from tfdist.graph.stacks import DefaultSession
from tfdist.ops.framework.session_handles import (
    delete_session_tensor,
    device_of,
    get_session_tensor,
)


class _Made(dict[tuple[str, Any], Any]):
    """The placeholders of a graph and what they lead to, by device and what is done."""


class TensorHandle:
    """A tensor that a session keeps on one of its tasks.

    It can be fed in place of its value.

    Attributes:
      handle: its name there, which `tf.get_session_tensor` and its placeholder take.
    """

    def __init__(self, handle: str, dtype: DType, session: DefaultSession | None) -> None:
        self.handle = handle
        self._dtype = dtype
        self._session = session

    def __str__(self) -> str:
        return self.handle

    def __repr__(self) -> str:
        return f"<TensorHandle {self.handle!r} dtype={self._dtype.name}>"

    @property
    def _opened(self) -> DefaultSession:
        """Return the session; it holds its fetches, and who has this holds the session."""
        assert self._session is not None
        return self._session

    def get_raw_handle(self) -> str:
        """Return the handle as a string."""
        return self.handle

    def eval(self) -> TensorValue:
        """Return the tensor's value."""
        holder, tensor = self._made(self._dtype)
        return self._opened.run(tensor, {holder: self.handle})

    def delete(self) -> None:
        """Let the task forget the tensor."""
        holder, delete = self._made(None)
        self._opened.run(delete, {holder: self.handle})

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> TensorValue:
        """Return the value as an array, which is what feeding the handle feeds."""
        wanted: TensorLike = dtype or self._dtype.as_numpy_dtype
        return np.asarray(self.eval(), wanted)

    def _made(self, dtype: DType | None) -> TensorLike:
        """Return a placeholder, and what gets a tensor of that type, or deletes one (None)."""
        graph = self._opened.graph
        made = graph.kept(_Made)
        key = (device_of(self.handle), dtype)
        if key not in made:
            with graph.as_default(), graph.device(None):
                make = get_session_tensor(self.handle, dtype) if dtype else None
                made[key] = make or delete_session_tensor(self.handle)
        return made[key]

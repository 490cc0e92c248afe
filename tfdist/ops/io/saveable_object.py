"""What savers save: an object that tells its tensors, and how it is restored from them.

Source: TF 1.15 API documentation, the classes BaseSaverBuilder.SaveSpec and
BaseSaverBuilder.SaveableObject.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.operation import Tensor


class SaveSpec:
    """One tensor of a checkpoint.

    Args:
      tensor: what is saved; or a function that returns it.
      slice_spec: which slice of a larger tensor it is, such as "5 2 0,3:0,2"; "" for none.
      name: under which it is saved.
      dtype: of the tensor; needed if it comes from a function.
      device: where the tensor is; needed if it comes from a function.
    """

    def __init__(
        self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: Any = None
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor) and (dtype is None or device is None):
            raise AssertionError("a SaveSpec of a function needs its tensor's dtype and device")
        self.dtype = tensor.dtype if dtype is None else dtypes.as_dtype(dtype)
        self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Tensor:
        """Return the tensor; a function is called each time."""
        return self._tensor() if callable(self._tensor) else self._tensor  # type: ignore[no-any-return]


class SaveableObject:
    """Something that is saved as one or more tensors, and restored from them: to be subclassed.

    Args:
      op: what it stands for: a variable, or anything that stays the same object.
      specs: a SaveSpec for each tensor.
      name: of the object.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = list(specs)
        self.name = name

    @property
    def device(self) -> str:
        """Return the device of its first tensor."""
        return str(self.specs[0].device)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Return an op that gives the object what was read.

        Args:
          restored_tensors: a tensor for each spec.
          restored_shapes: the shapes that they must have, if the saver reshapes; else None.

        Raises:
          ValueError: a subclass has not said how.
        """
        raise ValueError("Calling an abstract method.")

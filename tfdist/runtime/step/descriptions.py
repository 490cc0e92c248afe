"""What a trace keeps of a node's outputs: type, shape and size, not the arrays themselves."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.runtime.resources.variables import Variable

_OBJECT = np.dtype(object)
_new = tuple.__new__  # in a third of the time of the class itself


class Description(NamedTuple):
    """One output.

    Attributes:
      dtype: NumPy's type of the elements.
      shape: dimensions.
      nbytes: size; of strings, of the references to them.
      text_bytes: size of the strings themselves.
    """

    dtype: Any
    shape: tuple[int, ...]
    nbytes: int
    text_bytes: int = 0


# Of what a kernel gave: nothing of what is no array, a list of a list.
Described: TypeAlias = "Description | list[Described] | None"


def describe(result: TensorValue) -> Described:
    """Return the description of what a kernel returned.

    Returns:
      A Description, or None for what is no array (a queue, or nothing); a list of these for a
      list of outputs. Of a variable, its value is described.
    """
    if type(result) is np.ndarray and result.dtype is not _OBJECT:  # most, so quickly
        return _new(Description, (result.dtype, result.shape, result.nbytes, 0))
    if isinstance(result, np.ndarray | np.generic) or hasattr(result, "__array_function__"):
        text_bytes = _text_bytes(result) if result.dtype == object else 0
        return Description(result.dtype, result.shape, result.nbytes, text_bytes)
    if isinstance(result, list | tuple):
        return [describe(each) for each in result]
    if isinstance(result, Variable):
        return describe(result.look())
    return describe(np.array(result, object)) if isinstance(result, bytes) else None


def _text_bytes(strings: TensorValue) -> int:
    return sum(len(each) for each in strings.flat if isinstance(each, bytes))

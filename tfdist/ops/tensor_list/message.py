"""A TensorList as it crosses to another process, in TensorFlow's layout.

Its metadata are numbers as varints: how many elements are not set, which ones, the number of the
element type, and how many may be pushed (a 64-bit word); then a TensorShapeProto of the shape of
the elements. The tensors are the elements that are set, in order.

Source: what TensorFlow 1.15.5 and 2.21 make of lists with SerializeTensor.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import as_shape
from tfdist.base.varints import read_varint, read_varints, varints
from tfdist.errors import InvalidArgumentError
from tfdist.graph import variants
from tfdist.graph.tensor_proto import shape_to_proto
from tfdist.graph.variants import Content, Form
from tfdist.ops.tensor_list.list_value import TensorList
from tfdist.ops.tensor_list.persistent_elements import Elements
from tfdist.protos import pb

__all__: list[str] = []

_WORD = 2**64


def content_of(elements: TensorList) -> Content:
    """Return what a message holds of a list."""
    values = list(elements.elements)
    missing = [i for i, each in enumerate(values) if each is None]
    numbers = [len(missing), *missing, int(elements.dtype), elements.most % _WORD]
    shape = shape_to_proto(elements.element_shape)
    metadata = varints(numbers) + shape.SerializeToString()
    return Content(metadata, [each for each in values if each is not None])


def list_of(content: Content) -> TensorList:
    """Return the list that a message holds.

    Raises:
      InvalidArgumentError: it holds none.
    """
    try:
        return _list_of(content)
    except InvalidArgumentError:
        raise
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"a received TensorList is malformed: {error}") from None


def _list_of(content: Content) -> TensorList:
    data = content.metadata
    told, at = read_varint(data, 0)
    unset, at = read_varints(data, at, min(told, len(data)))
    (number, most), at = read_varints(data, at, 2)
    dtype = dtypes.as_dtype(number)
    shape = as_shape(pb.parse(pb.TensorShapeProto, data[at:]))
    missing = set(unset)
    count = len(missing) + len(content.tensors)
    if missing and max(missing) >= count:
        raise ValueError(f"element {max(missing)} of {count} is not set")
    given = iter(content.tensors)
    values: list[Any] = [None if i in missing else next(given) for i in range(count)]
    most -= _WORD if most >= _WORD // 2 else 0
    return TensorList(dtype, shape, Elements.of(values), most)


variants.register(TensorList, Form("tensorflow::TensorList", content_of, list_of))

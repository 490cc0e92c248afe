"""tensorflow.contrib.slim.python.slim.data.tfexample_decoder: what items an Example holds.

An Example is parsed into tensors by keys; an `ItemHandler` makes an item of some of them.

Source: TF 1.15 API documentation, tf.contrib.slim.tfexample_decoder.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.slice import slice as slice_of
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.case import case
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.functions.map_fn import map_fn
from tfdist.ops.image.decode_image import decode_image, is_jpeg
from tfdist.ops.image.jpeg import decode_jpeg
from tfdist.ops.io.feature_specs import FixedLenFeature
from tfdist.ops.io.parse_example import parse_single_example
from tfdist.ops.math.comparison import equal, logical_or
from tfdist.ops.math.reductions import reduce_prod
from tfdist.ops.sparse import sparse_tensor
from tfdist.ops.sparse.rows import sparse_reshape
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense
from tfdist.ops.strings.conversions import decode_raw

__all__ = [
    "BackupHandler", "BoundingBox", "DataDecoder", "Image", "ItemHandler", "ItemHandlerCallback",
    "LookupTensor", "SparseTensor", "TFExampleDecoder", "Tensor",
]  # fmt: skip

Parsed = Mapping[str, Any]


class DataDecoder(abc.ABC):
    """What turns data into items; the bases of decoders of one's own."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Any) -> Any:
        """Return the tensors of items.

        Args:
          data: in the decoder's format.
          items: their names.
        """

    @abc.abstractmethod
    def list_items(self) -> Any:
        """Return the names of the items."""


class ItemHandler(abc.ABC):
    """What makes an item of parsed features.

    Args:
      keys: the features that it wants, one or a list.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, tuple | list) else [keys]

    @property
    def keys(self) -> Sequence[str]:
        """Return the features that it wants."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the item.

        Args:
          keys_to_tensors: the parsed features by their keys.
        """


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes.

    Args:
      keys: the features that it wants.
      func: function of a dict of these to the item.

    Example:
      >>> ItemHandlerCallback = contrib.slim.tfexample_decoder.ItemHandlerCallback
      >>> ItemHandlerCallback(["a"], lambda found: found["a"] * 2).tensors_to_item({"a": 3, "b": 4})
      6
    """

    def __init__(self, keys: Any, func: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return what the function makes."""
        return self._func({key: keys_to_tensors[key] for key in self._keys})


class BoundingBox(ItemHandler):
    """Boxes [boxes, 4], each a row of its least y and x and its greatest.

    Args:
      keys: the four features in that order; None for "ymin", "xmin", "ymax", "xmax".
      prefix: stands before each key.

    Raises:
      ValueError: there are not four keys.
    """

    def __init__(self, keys: Any = None, prefix: str = "") -> None:
        names = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(names) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(names)}")
        self._prefix = prefix
        self._full_keys = [prefix + name for name in names]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the boxes."""
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            side = side.values if isinstance(side, sparse_tensor.SparseTensor) else side
            sides.append(expand_dims(side, 0))
        return transpose(concat(sides, 0))


class Tensor(ItemHandler):
    """A feature; a sparse one as a dense tensor.

    Args:
      tensor_key: the feature.
      shape_keys: features that hold its shape, or each an axis of it.
      shape: its shape, instead.
      default_value: stands where a sparse feature has nothing.

    Raises:
      ValueError: both `shape_keys` and `shape` are given.

    Example:
      >>> handler = contrib.slim.tfexample_decoder.Tensor("a", shape=[2, 2])
      >>> handler.tensors_to_item({"a": constant([1, 2, 3, 4])}).shape.as_list()
      [2, 2]
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key, self._shape_keys = tensor_key, shape_keys
        self._shape, self._default_value = shape, default_value
        super().__init__([tensor_key, *(shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the tensor."""
        tensor = keys_to_tensors[self._tensor_key]
        sizes = self._shape
        if self._shape_keys:
            axes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            sizes = reshape(stack(axes), [-1])
        is_sparse = isinstance(tensor, sparse_tensor.SparseTensor)
        if sizes is not None:
            tensor = sparse_reshape(tensor, sizes) if is_sparse else reshape(tensor, sizes)
        return sparse_tensor_to_dense(tensor, self._default_value) if is_sparse else tensor


class LookupTensor(Tensor):
    """What a table has for the elements of a feature.

    Args:
      tensor_key: the feature.
      table: such as `tf.contrib.lookup.index_table_from_tensor` makes.
      shape_keys: as the rest: see `Tensor`.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return what the table has."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """One item, or another where the first one has no elements.

    Args:
      handler: of the first one.
      backup: of the other.

    Raises:
      ValueError: one of them is no ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for label, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError(f"{label} handler is of type {type(each)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond(
            equal(reduce_prod(shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A sparse vector, whose places and values are features.

    Args:
      indices_key: the places; "indices" by default.
      values_key: the values; "values" by default.
      shape_key: a feature that holds the length.
      shape: the length, instead, as a list.
      densify: whether it is made dense.
      default_value: stands where it has nothing, then.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value
        keys = [self._indices_key, self._values_key, *([shape_key] if shape_key else [])]
        super().__init__(keys)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the sparse tensor, or the dense one."""
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        sizes = self._shape
        if self._shape_key:
            sizes = _dense(keys_to_tensors[self._shape_key])
        sizes_of: Any = shape(indices.indices)
        before = sizes_of[1] - 1  # columns that say which example, of a batch
        rows = slice_of(indices.indices, [0, 0], stack([-1, before]))
        places = concat([rows, reshape(indices.values, [-1, 1])], 1)
        values = values.values if isinstance(values, sparse_tensor.SparseTensor) else values
        found = sparse_tensor.SparseTensor(places, values, sizes)
        return sparse_tensor_to_dense(found, self._default_value) if self._densify else found


class Image(ItemHandler):
    """An image, whose format says how its bytes are read.

    Args:
      image_key: the feature of its bytes; "image/encoded" by default.
      format_key: the feature of its format; "image/format" by default: "raw" or "RAW" for numbers
        as they are; otherwise the bytes tell whether it is a JPEG, PNG, GIF or BMP.
      shape: [height, width, channels], where all images have the same.
      channels: how many it has; 0 for those of the bytes.
      dtype: of its numbers.
      repeated: whether there are several images of one format.
      dct_method: how a JPEG is transformed, "INTEGER_FAST" or "INTEGER_ACCURATE".
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int | None = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """Return the image, or the images."""
        content, form = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(content, form)
        return map_fn(lambda each: self._decode(each, form), content, dtype=self._dtype)

    def _decode(self, content: Any, form: Any) -> Any:
        """Return one image."""

        def jpeg() -> Any:
            method = self._dct_method
            return cast(decode_jpeg(content, self._channels or 0, dct_method=method), self._dtype)

        def encoded() -> Any:
            return cond(
                is_jpeg(content), jpeg,
                lambda: cast(decode_image(content, self._channels), self._dtype), name="cond_jpeg",
            )  # fmt: skip

        is_raw = logical_or(equal(form, "raw"), equal(form, "RAW"))
        image = case(
            {is_raw: lambda: decode_raw(content, self._dtype)}, default=encoded, exclusive=True
        )
        if self._shape is not None:
            return reshape(image, self._shape)
        image.set_shape([None, None, self._channels])
        return image


class TFExampleDecoder(DataDecoder):
    """Decodes an Example: parses it, and lets handlers make items of what it holds.

    Args:
      keys_to_features: dict from keys to `tf.FixedLenFeature` or `tf.VarLenFeature`.
      items_to_handlers: dict from items to `ItemHandler`s.

    Example:
      >>> decoders = contrib.slim.tfexample_decoder
      >>> decoder = decoders.TFExampleDecoder(
      ...     {"label": FixedLenFeature([], int64)}, {"number": decoders.Tensor("label")}
      ... )
      >>> decoder.list_items()
      ['number']
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """Return the names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Iterable[str] | None = None) -> list[Any]:
        """Return the items.

        Args:
          serialized_example: a serialized Example, a string tensor.
          items: which ones; all by default.
        """
        parsed = parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                parsed[key] = reshape(parsed[key], feature.shape)
        outputs = []
        for item in self._items_to_handlers if items is None else items:
            handler = self._items_to_handlers[item]
            outputs.append(handler.tensors_to_item({key: parsed[key] for key in handler.keys}))
        return outputs


def _dense(tensor: Any) -> Any:
    is_sparse = isinstance(tensor, sparse_tensor.SparseTensor)
    return sparse_tensor_to_dense(tensor) if is_sparse else tensor

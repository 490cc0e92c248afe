"""Several elements as one, and one as several."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import inputs, mapping, structure
from tfdist.datasets.structure import DatasetSpec, SparseTensorSpec, TensorSpec
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor


def known_size(size: Tensor, drops_rest: Tensor) -> int | None:
    """Return the size that all batches have, None if they may differ or nobody knows yet."""
    is_full = constant_value(drops_rest)
    value = constant_value(size) if is_full is not None and is_full else None
    return None if value is None else int(value)


def batched(found: Any, dim: int | None) -> Any:
    """Return the structure of batches of elements, `dim` each; of any size if it is None."""
    return structure.map_leaves(
        lambda spec: type(spec)(TensorShape([dim]).concatenate(spec.shape), spec.dtype), found
    )


def batch(dataset: Any, batch_size: Any, drop_remainder: Any) -> Any:
    """See `Dataset.batch`."""
    size = inputs.int64(batch_size, "batch_size")
    drops = convert_to_tensor(drop_remainder, dtypes.bool_, name="drop_remainder")
    found = batched(dataset._structure, known_size(size, drops))
    told = structure.flat_attrs(found)
    return dataset._with(raw.BatchDatasetV2(dataset._variant_tensor, size, drops, **told), found)


def padded_batch(
    dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> Any:
    """See `Dataset.padded_batch`."""
    size = inputs.int64(batch_size, "batch_size")
    specs = structure.flatten(dataset._structure)
    if any(isinstance(spec, SparseTensorSpec) for spec in specs):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    wanted = structure.flatten_like(dataset._structure, padded_shapes)
    shapes = [_shape_tensor(each, spec) for each, spec in zip(wanted, specs, strict=True)]
    fillers = _fillers(dataset._structure, specs, padding_values)
    drops = convert_to_tensor(drop_remainder, dtypes.bool_, name="drop_remainder")
    padded = [
        TensorSpec(_static(each), spec.dtype) for each, spec in zip(shapes, specs, strict=True)
    ]
    found = batched(structure.pack_as(dataset._structure, padded), known_size(size, drops))
    tensor = raw.PaddedBatchDatasetV2(
        dataset._variant_tensor, size, shapes, fillers, drops,
        output_shapes=structure.flat_attrs(found)["output_shapes"],
    )  # fmt: skip
    return dataset._with(tensor, found)


def _shape_tensor(wanted: Any, spec: TensorSpec) -> Tensor:
    """Return a padded shape as an int64 vector with -1 for what is not known."""
    if isinstance(wanted, Tensor):
        return wanted if wanted.dtype is dtypes.int64 else raw.Cast(wanted, DstT=dtypes.int64)
    dims = TensorShape(_unknown(wanted))
    known = spec.shape
    if not _holds(dims, known):
        raise ValueError(
            f"The padded shape {dims} is not compatible with the corresponding input component "
            f"shape {known}."
        )
    array = np.array([-1 if dim is None else dim for dim in dims.as_list()], np.int64)
    return convert_to_tensor(array)


def _holds(wanted: TensorShape, known: TensorShape) -> bool:
    """Return whether elements of a shape can be padded to another one, as far as is known."""
    if wanted.ndims is None or known.ndims is None:
        return True
    pairs = zip(wanted.as_list(), known.as_list(), strict=False)
    return wanted.ndims == known.ndims and not any(
        a is not None and b is not None and a < b for a, b in pairs
    )


def _unknown(wanted: Any) -> Any:
    """Return a shape with None where -1 stands; ValueError if it is none."""
    if np.ndim(wanted) > 1:
        raise ValueError(f"Padded shape {wanted} must be a 1-D tensor of tf.int64 values")
    if isinstance(wanted, TensorShape):
        return wanted
    dims = [None if dim is None else getattr(dim, "value", dim) for dim in wanted]
    return [None if dim is None or dim == -1 else int(dim) for dim in dims]


def _static(shape: Tensor) -> TensorShape:
    value = constant_value(shape)
    if value is None:
        rank = shape.shape.as_list()[0] if shape.shape.ndims else None
        return TensorShape(None if rank is None else [None] * rank)
    return TensorShape([None if dim < 0 else int(dim) for dim in value])


def _fillers(found: Any, specs: list[Any], given: Any) -> list[Tensor]:
    if given is None:
        values: list[Any] = [b"" if spec.dtype is dtypes.string else 0 for spec in specs]
        typed = [np.array(v, object if v == b"" else s.dtype.as_numpy_dtype)
                 for v, s in zip(values, specs, strict=True)]  # fmt: skip
        return [convert_to_tensor(v, s.dtype, name="padding_value")
                for v, s in zip(typed, specs, strict=True)]  # fmt: skip
    values = structure.flatten_like(found, given)
    tensors = [convert_to_tensor(v, name="padding_value") for v in values]
    for tensor, spec in zip(tensors, specs, strict=True):
        if tensor.dtype.base_dtype is not spec.dtype:
            raise TypeError(
                f"Padding value type ({tensor.dtype!r}) does not match output type ({spec.dtype!r})"
            )
        if tensor.shape.ndims not in (0, None):
            raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    return tensors


def unbatch(dataset: Any) -> Any:
    """See `Dataset.unbatch`."""

    def normalize(*args: Any) -> Any:
        tensors = structure.tensors_of(args, are_rows=True)
        return tensors[0] if len(tensors) == 1 else tuple(tensors)

    plain = mapping.mapped(dataset, normalize, None)
    found = structure.map_leaves(
        lambda spec: type(spec)(spec.shape[1:] if spec.shape.ndims else None, spec.dtype),
        dataset._structure,
    )
    told = structure.flat_attrs(found)
    return dataset._with(raw.UnbatchDataset(plain._variant_tensor, **told), found)


def window(dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Any:
    """See `Dataset.window`."""
    wanted = inputs.int64(size, "size")
    moved = inputs.int64(size if shift is None else shift, "shift")
    every = inputs.int64(stride, "stride")
    drops = convert_to_tensor(drop_remainder, dtypes.bool_, name="drop_remainder")
    found = structure.map_leaves(DatasetSpec, dataset._structure)
    tensor = raw.WindowDataset(
        dataset._variant_tensor, wanted, moved, every, drops, **structure.flat_attrs(found)
    )
    return dataset._with(tensor, found)

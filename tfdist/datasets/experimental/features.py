"""Datasets of the features of serialized `Example`s.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.datasets import mapping, structure, take_skip_repeat
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.csv import shuffled
from tfdist.datasets.files import TFRecordDataset
from tfdist.datasets.structure import SparseTensorSpec, TensorSpec
from tfdist.graph.op_def import raw
from tfdist.ops.io.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Request,
    SparseFeature,
    VarLenFeature,
)
from tfdist.ops.io.parse_example import parse_example

__all__ = ["make_batched_features_dataset", "parse_example_dataset"]

_ALLOWED = (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature)


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: Any = 1
) -> Callable[[Dataset], Dataset]:
    """Return a stage that takes batches of serialized `Example`s apart, to dicts.

    Args:
      features: what is wanted: a dict from keys to `FixedLenFeature` and its like.
      num_parallel_calls: accepted.

    Raises:
      ValueError: nothing is wanted, or a feature does not tell enough.
    """
    if features is None:
        raise ValueError("Missing: features was None.")

    def stage(dataset: Dataset) -> Dataset:
        spec = dataset._structure
        if not isinstance(spec, TensorSpec) or spec.dtype.name != "string" or spec.shape.ndims != 1:
            raise TypeError(
                "Input dataset should be a dataset of vectors of strings. Instead it is "
                f"`{dataset!r}`"
            )
        if any(isinstance(feature, SparseFeature) for feature in features.values()):
            return mapping.mapped(dataset, lambda each: parse_example(each, features), None)
        return _parsed(dataset, features, num_parallel_calls)

    return stage


def _parsed(dataset: Dataset, features: Mapping[str, Any], num_parallel_calls: Any) -> Dataset:
    request = Request(features, _ALLOWED)
    rows = dataset._structure.shape
    found: dict[str, Any] = {
        key: SparseTensorSpec(rows.concatenate([None]), dtype)
        for key, dtype in request.sparse.items()
    }
    dense = zip(request.dense, request.dense_types, request.dense_shapes(), strict=True)
    for key, dtype, shape in dense:
        found[key] = TensorSpec(rows.concatenate(TensorShape(shape)), dtype)
    found = {key: found[key] for key in features}
    tensor = raw.ParseExampleDataset(
        dataset._variant_tensor,
        num_parallel_calls,
        request.defaults(),
        sparse_keys=list(request.sparse),
        dense_keys=list(request.dense),
        sparse_types=request.sparse_types,
        dense_shapes=request.dense_shapes(),
        **structure.flat_attrs(found),
    )
    return dataset._with(tensor, found)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Any = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Return batches of the features of files of `Example`s: a dict, or a pair of it and the label.

    Args:
      file_pattern: a pattern of names, or several.
      batch_size: number of examples in each.
      features: what is wanted: a dict from keys to `FixedLenFeature` and its like.
      reader: makes a dataset of serialized examples of a name.
      label_key: feature that stands apart, if there is one.
      reader_args: what `reader` takes besides.
      num_epochs: how often the files are read; without end if None.
      shuffle: whether examples come in random order.
      shuffle_buffer_size: how many wait to be drawn from.
      shuffle_seed: makes that order repeatable.
      prefetch_buffer_size: as for `prefetch`.
      reader_num_threads: number of files whose examples come in turn.
      parser_num_threads: accepted.
      sloppy_ordering: accepted.
      drop_final_batch: whether a last smaller batch is left out.

    Raises:
      ValueError: the label is no feature.
    """
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
        )
    files = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    given = list(reader_args or ())
    records: Any = mapping.parallel_interleave(
        files, lambda name: reader(name, *given), reader_num_threads or 1, 1, sloppy_ordering,
        None, None,
    )  # fmt: skip
    if structure.types_of(records._structure) == ("string", "string"):
        records = records.map(lambda _, value: value)
    records = shuffled(records, shuffle, num_epochs, shuffle_buffer_size, shuffle_seed)
    batches = records.batch(batch_size, drop_final_batch or num_epochs is None)
    parsed: Any = batches.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key is not None:
        parsed = parsed.map(lambda found: (found, found.pop(label_key)))
    return take_skip_repeat.prefetch(parsed, prefetch_buffer_size)

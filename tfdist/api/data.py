"""tf.data: datasets and iterators; also `tf.compat.v1.data` and, by older names, `contrib.data`."""

from tfdist.api import data_experimental as experimental
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfdist.datasets.iterators import (
    Iterator,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from tfdist.datasets.options import Options
from tfdist.datasets.structure import DatasetSpec

__all__ = [
    "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "Iterator", "Options", "TFRecordDataset",
    "TextLineDataset", "experimental", "get_output_classes", "get_output_shapes",
    "get_output_types", "make_initializable_iterator", "make_one_shot_iterator",
]  # fmt: skip

AUTOTUNE = experimental.AUTOTUNE

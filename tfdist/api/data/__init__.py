"""tf.data: datasets and iterators; also `tf.compat.v1.data` and, by older names, `contrib.data`."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.data import experimental
    from tfdist.api.data.experimental import AUTOTUNE
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

__getattr__, __dir__ = lazy(__name__, "tf.data")

"""tf.contrib.data: what tf.data was called before TensorFlow 1.4, and some of `experimental`."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.data import (
        Dataset,
        FixedLengthRecordDataset,
        Iterator,
        TextLineDataset,
        TFRecordDataset,
    )
    from tfdist.api.data.experimental import *
    from tfdist.api.data.experimental import (
        AUTOTUNE,
        CsvDataset,
        Optional,
        get_next_as_optional,
        make_csv_dataset,
    )
    from tfdist.datasets.legacy import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.data")

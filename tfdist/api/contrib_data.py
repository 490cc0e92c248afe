"""tf.contrib.data: what tf.data was called before TensorFlow 1.4, and some of `experimental`."""

from tfdist.api.data import (
    Dataset,
    FixedLengthRecordDataset,
    Iterator,
    TextLineDataset,
    TFRecordDataset,
)
from tfdist.api.data_experimental import *
from tfdist.api.data_experimental import (
    AUTOTUNE,
    CsvDataset,
    Optional,
    get_next_as_optional,
    make_csv_dataset,
)
from tfdist.datasets.earlier import *

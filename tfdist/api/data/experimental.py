"""tf.data.experimental: stages to be applied, and datasets that came later."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.datasets.csv import CsvDataset, make_csv_dataset
    from tfdist.datasets.experimental import *
    from tfdist.datasets.experimental import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
    from tfdist.datasets.features import *
    from tfdist.datasets.optionals import Optional, get_next_as_optional
    from tfdist.datasets.options import (
        DistributeOptions,
        OptimizationOptions,
        StatsOptions,
        ThreadingOptions,
    )
    from tfdist.datasets.reducing import *
    from tfdist.datasets.sql_and_writers import *

__getattr__, __dir__ = lazy(__name__, "tf.data.experimental")

"""tf.data.experimental: stages to be applied, and datasets that came later."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.datasets.experimental.csv import CsvDataset, make_csv_dataset
    from tfdist.datasets.experimental.features import *
    from tfdist.datasets.experimental.grouping import *
    from tfdist.datasets.experimental.reducing import *
    from tfdist.datasets.experimental.sampling import *
    from tfdist.datasets.experimental.sql_and_writers import *
    from tfdist.datasets.experimental.stages import *
    from tfdist.datasets.experimental.stages import (
        AUTOTUNE,
        INFINITE_CARDINALITY,
        UNKNOWN_CARDINALITY,
    )
    from tfdist.datasets.optionals import Optional, get_next_as_optional
    from tfdist.datasets.options import (
        DistributeOptions,
        OptimizationOptions,
        StatsOptions,
        ThreadingOptions,
    )

__getattr__, __dir__ = lazy(__name__, "tf.data.experimental")

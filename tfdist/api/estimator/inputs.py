"""tf.estimator.inputs: input functions of arrays and data frames."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.inputs import (
        numpy_input_fn,
        pandas_input_fn,
    )

__getattr__, __dir__ = lazy(__name__, "tf.estimator.inputs")

"""tf.keras.datasets.boston_housing: a data set from a file that is there."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.utils.local_datasets import boston_housing as load_data

__getattr__, __dir__ = lazy(__name__, "tf.keras.datasets.boston_housing")

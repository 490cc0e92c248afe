"""tf.keras.datasets: data sets from files that are there."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.keras.datasets import (
        boston_housing,
        cifar10,
        cifar100,
        fashion_mnist,
        imdb,
        mnist,
        reuters,
    )

__getattr__, __dir__ = lazy(__name__, "tf.keras.datasets")

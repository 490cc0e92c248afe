"""tf.contrib.sparsemax: softmax's neighbour that gives zeros."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.sparsemax import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.sparsemax")

"""tf.keras.initializers: what weights are in the beginning."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.initializers import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.initializers")

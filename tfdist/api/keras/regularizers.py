"""tf.keras.regularizers: what the size of weights costs."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.regularizers import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.regularizers")

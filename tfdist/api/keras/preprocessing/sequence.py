"""tf.keras.preprocessing.sequence: sequences made ready for models."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.preprocessing.sequence import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.preprocessing.sequence")

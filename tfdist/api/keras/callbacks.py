"""tf.keras.callbacks: what is called during training."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.callbacks.callbacks import *
    from tfdist.keras_impl.callbacks.monitoring import *
    from tfdist.keras_impl.callbacks.writing import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.callbacks")

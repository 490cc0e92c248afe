"""tf.keras.layers: what networks are made of."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.layers.all_layers import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.layers")

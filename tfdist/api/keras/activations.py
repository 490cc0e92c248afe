"""tf.keras.activations: what becomes of sums of layers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.activations import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.activations")

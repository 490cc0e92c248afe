"""tf.keras.constraints: what weights are made to be after each step."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.constraints import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.constraints")

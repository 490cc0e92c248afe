"""tf.keras.losses: losses as functions and as objects."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.losses.loss_classes import *
    from tfdist.keras_impl.losses.losses import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.losses")

"""tf.keras.optimizers: optimizers, and learning rates that depend on the step."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.keras import schedules
    from tfdist.keras_impl.optimizers.optimizers import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.optimizers")

"""tf.keras.models: networks, and networks from what tells of them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.cloning import *
    from tfdist.keras_impl.engine.model import *
    from tfdist.keras_impl.engine.saving import *
    from tfdist.keras_impl.engine.sequential import *
    from tfdist.keras_impl.loading import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.models")

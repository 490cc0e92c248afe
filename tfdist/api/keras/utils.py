"""tf.keras.utils: helpers of programs that train models."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.callbacks.progress import *
    from tfdist.keras_impl.engine.graph_map import get_source_inputs
    from tfdist.keras_impl.serialization import *
    from tfdist.keras_impl.utils.utils import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.utils")

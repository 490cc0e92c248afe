"""tf.layers: layers as functions, and the classes behind them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.layers.base import *
    from tfdist.models.layers.convolutional import *
    from tfdist.models.layers.core import *
    from tfdist.models.layers.input_spec import *
    from tfdist.models.layers.normalization import *
    from tfdist.models.layers.pooling import *
    from tfdist.models.layers.transposed_separable import *

__getattr__, __dir__ = lazy(__name__, "tf.layers")

"""tf.ragged: tensors whose rows are of different lengths."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.ragged.functions import *
    from tfdist.ops.ragged.operators import map_flat_values
    from tfdist.ops.ragged.ragged_values import RaggedTensorValue, constant_value
    from tfdist.ops.ragged.stack import *

__getattr__, __dir__ = lazy(__name__, "tf.ragged")

"""tf.sets: sets in the rows of tensors."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.sparse.set_operations import *

__getattr__, __dir__ = lazy(__name__, "tf.sets")

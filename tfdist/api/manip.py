"""tf.manip: tensors cut up and put together, under a later name."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.array.gather_nd import gather_nd
    from tfdist.ops.array.reshape import reshape
    from tfdist.ops.array.scatter_nd import scatter_nd
    from tfdist.ops.array.tile_roll import reverse, roll, tile
    from tfdist.ops.convolution.space_to_batch import batch_to_space_nd, space_to_batch_nd

__getattr__, __dir__ = lazy(__name__, "tf.manip")

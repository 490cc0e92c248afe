"""tf.manip: tensors cut up and put together, under a later name."""

from tfdist.ops.arrays import reverse, roll, tile
from tfdist.ops.convolution_spaces import batch_to_space_nd, space_to_batch_nd
from tfdist.ops.gathering import gather_nd
from tfdist.ops.scattering import scatter_nd
from tfdist.ops.shaping import reshape
from tfdist.programs.missing import told

__getattr__ = told("tf.manip")

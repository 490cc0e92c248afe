"""The initializers that layers have by default."""

from tfdist.models.layers.initializers import xavier_initializer
from tfdist.ops.variables.initializers import ones_initializer, zeros_initializer

ZEROS, ONES = zeros_initializer(), ones_initializer()
XAVIER = xavier_initializer()

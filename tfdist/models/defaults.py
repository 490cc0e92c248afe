"""The initializers that layers have by default."""

from tfdist.models.contrib_initializers import xavier_initializer
from tfdist.ops.initializers import ones_initializer, zeros_initializer

ZEROS, ONES = zeros_initializer(), ones_initializer()
XAVIER = xavier_initializer()

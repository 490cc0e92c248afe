"""tf.initializers: the same initializers under their short names."""

from tfdist.ops.initializers import constant_initializer as constant
from tfdist.ops.initializers import glorot_normal_initializer as glorot_normal
from tfdist.ops.initializers import glorot_uniform_initializer as glorot_uniform
from tfdist.ops.initializers import ones_initializer as ones
from tfdist.ops.initializers import random_normal_initializer as random_normal
from tfdist.ops.initializers import random_uniform_initializer as random_uniform
from tfdist.ops.initializers import truncated_normal_initializer as truncated_normal
from tfdist.ops.initializers import variance_scaling_initializer as variance_scaling
from tfdist.ops.initializers import zeros_initializer as zeros
from tfdist.ops.variables import variables_initializer as variables
from tfdist.programs.missing import told

__all__ = [
    "constant", "glorot_normal", "glorot_uniform", "ones", "random_normal", "random_uniform",
    "truncated_normal", "variables", "variance_scaling", "zeros",
]  # fmt: skip

__getattr__ = told("tf.initializers")

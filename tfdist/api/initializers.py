"""tf.initializers: the same initializers under their short names."""

from tfdist.ops.initializers import constant_initializer as constant
from tfdist.ops.initializers import glorot_normal_initializer as glorot_normal
from tfdist.ops.initializers import glorot_uniform_initializer as glorot_uniform
from tfdist.ops.initializers import ones_initializer as ones
from tfdist.ops.initializers import random_normal_initializer as random_normal
from tfdist.ops.initializers import random_uniform_initializer as random_uniform
from tfdist.ops.initializers import truncated_normal_initializer as truncated_normal
from tfdist.ops.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from tfdist.ops.initializers import variance_scaling_initializer as variance_scaling
from tfdist.ops.initializers import zeros_initializer as zeros
from tfdist.ops.initializers_matrices import he_normal_initializer as he_normal
from tfdist.ops.initializers_matrices import he_uniform_initializer as he_uniform
from tfdist.ops.initializers_matrices import identity_initializer as identity
from tfdist.ops.initializers_matrices import lecun_normal_initializer as lecun_normal
from tfdist.ops.initializers_matrices import lecun_uniform_initializer as lecun_uniform
from tfdist.ops.initializers_matrices import orthogonal_initializer as orthogonal
from tfdist.ops.table_initializers import tables_initializer
from tfdist.ops.variable_collections import global_variables_initializer as global_variables
from tfdist.ops.variable_collections import local_variables_initializer as local_variables
from tfdist.ops.variable_collections import variables_initializer as variables
from tfdist.programs.missing import told

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
    "identity", "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal",
    "random_normal", "random_uniform", "tables_initializer", "truncated_normal",
    "uniform_unit_scaling", "variables",
    "variance_scaling", "zeros",
]  # fmt: skip

__getattr__ = told("tf.initializers")

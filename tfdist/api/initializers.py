"""tf.initializers: the same initializers under their short names."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.lookup.table_initializers import tables_initializer
    from tfdist.ops.variables.collections import global_variables_initializer as global_variables
    from tfdist.ops.variables.collections import local_variables_initializer as local_variables
    from tfdist.ops.variables.collections import variables_initializer as variables
    from tfdist.ops.variables.initializers import constant_initializer as constant
    from tfdist.ops.variables.initializers import glorot_normal_initializer as glorot_normal
    from tfdist.ops.variables.initializers import glorot_uniform_initializer as glorot_uniform
    from tfdist.ops.variables.initializers import ones_initializer as ones
    from tfdist.ops.variables.initializers import random_normal_initializer as random_normal
    from tfdist.ops.variables.initializers import random_uniform_initializer as random_uniform
    from tfdist.ops.variables.initializers import truncated_normal_initializer as truncated_normal
    from tfdist.ops.variables.initializers import (
        uniform_unit_scaling_initializer as uniform_unit_scaling,
    )
    from tfdist.ops.variables.initializers import variance_scaling_initializer as variance_scaling
    from tfdist.ops.variables.initializers import zeros_initializer as zeros
    from tfdist.ops.variables.matrix_initializers import he_normal_initializer as he_normal
    from tfdist.ops.variables.matrix_initializers import he_uniform_initializer as he_uniform
    from tfdist.ops.variables.matrix_initializers import identity_initializer as identity
    from tfdist.ops.variables.matrix_initializers import lecun_normal_initializer as lecun_normal
    from tfdist.ops.variables.matrix_initializers import lecun_uniform_initializer as lecun_uniform
    from tfdist.ops.variables.matrix_initializers import orthogonal_initializer as orthogonal

__getattr__, __dir__ = lazy(__name__, "tf.initializers")

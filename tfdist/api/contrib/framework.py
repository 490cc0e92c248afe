"""tf.contrib.framework: scopes of arguments, variables by collection and name, nested structures,
and small functions of tensors and names.
"""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.bounded_specs import *
    from tfdist.models.contrib.framework import nest
    from tfdist.models.contrib.framework.arg_scope import *
    from tfdist.models.contrib.framework.deprecation import *
    from tfdist.models.contrib.framework.names import *
    from tfdist.models.contrib.framework.smart_cond import *
    from tfdist.models.contrib.framework.tensor_checks import *
    from tfdist.models.contrib.framework.variables import *
    from tfdist.ops.array.sort import argsort, sort
    from tfdist.ops.checks.rank_assertions import assert_scalar
    from tfdist.ops.checks.type_assertions import assert_same_float_dtype
    from tfdist.ops.io.record_input import RecordInput
    from tfdist.ops.sparse.sparse_tensor import convert_to_tensor_or_sparse_tensor
    from tfdist.ops.variables.convolution_initializers import (
        ConvolutionDeltaOrthogonal as convolutional_delta_orthogonal,
    )
    from tfdist.training.global_step import (
        assert_global_step,
        create_global_step,
        get_global_step,
        get_or_create_global_step,
    )
    from tfdist.training.optimizers.assigned_values import *
    from tfdist.training.saving.checkpoint_initializers import (
        assign_from_checkpoint,
        assign_from_checkpoint_fn,
        init_from_checkpoint,
    )
    from tfdist.training.saving.checkpoint_utils import (
        list_variables,
        load_checkpoint,
        load_variable,
    )
    from tfdist.training.saving.remapping_initializers import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.framework")

"""tf.contrib.framework: scopes of arguments, variables by collection and name, nested structures,
and small functions of tensors and names.
"""

from tfdist.models import contrib_nest as nest
from tfdist.models.arg_scopes import *
from tfdist.models.bounded_specs import *
from tfdist.models.contrib_names import *
from tfdist.models.contrib_shapes import *
from tfdist.models.contrib_smart import *
from tfdist.models.contrib_variables import *
from tfdist.models.deprecations import *
from tfdist.ops.rank_assertions import assert_scalar
from tfdist.ops.record_input import RecordInput
from tfdist.ops.sorting import argsort, sort
from tfdist.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor
from tfdist.ops.type_assertions import assert_same_float_dtype
from tfdist.programs.missing import told
from tfdist.training.assigned_values import *
from tfdist.training.checkpoint_initializers import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    init_from_checkpoint,
)
from tfdist.training.checkpoint_utils import list_variables, load_checkpoint, load_variable
from tfdist.training.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)
from tfdist.training.remapping_initializers import *

__getattr__ = told("tf.contrib.framework")

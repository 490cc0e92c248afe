"""tf.contrib.framework: scopes of arguments, and variables by collection and name."""

from tfdist.models.arg_scopes import *
from tfdist.models.contrib_variables import *
from tfdist.ops.record_input import RecordInput
from tfdist.programs.missing import told
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

__getattr__ = told("tf.contrib.framework")

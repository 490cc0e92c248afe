"""tf.debugging: assertions, and what tells whether numbers are numbers."""

from tfdist.ops.assertions import *
from tfdist.ops.assertions import verify_tensor_all_finite as assert_all_finite
from tfdist.ops.elementwise import is_finite, is_inf, is_nan
from tfdist.ops.shape_assertions import assert_shapes
from tfdist.ops.watching import Assert, check_numerics
from tfdist.programs.missing import told
from tfdist.session.process_config import get_log_device_placement, set_log_device_placement

__getattr__ = told("tf.debugging")

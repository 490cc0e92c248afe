"""tf.debugging: assertions, and what tells whether numbers are numbers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.checks.assertions import *
    from tfdist.ops.checks.assertions import verify_tensor_all_finite as assert_all_finite
    from tfdist.ops.checks.print_assert import Assert, check_numerics
    from tfdist.ops.checks.shape_assertions import assert_shapes
    from tfdist.ops.math.elementwise import is_finite, is_inf, is_nan
    from tfdist.session.process_config import get_log_device_placement, set_log_device_placement

__getattr__, __dir__ = lazy(__name__, "tf.debugging")

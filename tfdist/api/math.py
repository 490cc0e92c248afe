"""tf.math: arithmetic under its later home."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.metrics.confusion import confusion_matrix
    from tfdist.ops.array.gather import invert_permutation
    from tfdist.ops.checks.assertions import is_non_decreasing, is_strictly_increasing
    from tfdist.ops.math.add_n import *
    from tfdist.ops.math.arithmetic import *
    from tfdist.ops.math.arithmetic import div_no_nan as divide_no_nan
    from tfdist.ops.math.bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
    from tfdist.ops.math.clip import *
    from tfdist.ops.math.comparison import (
        equal,
        greater,
        greater_equal,
        less,
        less_equal,
        logical_and,
        logical_not,
        logical_or,
        logical_xor,
        not_equal,
    )
    from tfdist.ops.math.complex_parts import angle, conj, imag, real
    from tfdist.ops.math.composed_reductions import *
    from tfdist.ops.math.cumulative import *
    from tfdist.ops.math.cumulative_logsumexp import cumulative_logsumexp
    from tfdist.ops.math.division import *
    from tfdist.ops.math.elementwise import *
    from tfdist.ops.math.histograms import bincount
    from tfdist.ops.math.reductions import *
    from tfdist.ops.math.segments import *
    from tfdist.ops.math.special_functions import *
    from tfdist.ops.math.special_functions import nextafter, polyval, reciprocal_no_nan
    from tfdist.ops.math.top_k import *
    from tfdist.ops.nn.functions import (
        in_top_k,
        l2_normalize,
        log_softmax,
        softplus,
        softsign,
        top_k,
        zero_fraction,
    )
    from tfdist.ops.nn.softmax import softmax

__getattr__, __dir__ = lazy(__name__, "tf.math")

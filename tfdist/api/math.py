"""tf.math: arithmetic under its later home."""

from tfdist.models.confusion import confusion_matrix
from tfdist.ops.assertions import is_non_decreasing, is_strictly_increasing
from tfdist.ops.clip import *
from tfdist.ops.comparison import (
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
from tfdist.ops.complex_numbers import angle, conj, imag, real
from tfdist.ops.division import *
from tfdist.ops.elementwise import *
from tfdist.ops.gathering import invert_permutation
from tfdist.ops.histograms import bincount
from tfdist.ops.math import *
from tfdist.ops.math import div_no_nan as divide_no_nan
from tfdist.ops.nn import (
    in_top_k,
    l2_normalize,
    log_softmax,
    softmax,
    softplus,
    softsign,
    top_k,
    zero_fraction,
)
from tfdist.ops.ranking import *
from tfdist.ops.reductions import *
from tfdist.ops.reductions_composed import *
from tfdist.ops.scans import *
from tfdist.ops.scans_logarithms import cumulative_logsumexp
from tfdist.ops.segments import *
from tfdist.ops.special_bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from tfdist.ops.special_functions import *
from tfdist.ops.special_functions import nextafter, polyval, reciprocal_no_nan
from tfdist.ops.sums import *
from tfdist.programs.missing import told

__getattr__ = told("tf.math")

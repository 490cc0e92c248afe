"""Public functions of tensors that take ragged tensors, too: where an argument is ragged, another
function is called instead.

`base.namespace` asks when it hands out a name; what is called stands in `ops.ragged` (`ordinary`,
`reductions`), and is imported by the first call that has a ragged argument.

Source: TF 1.15 API documentation, tf.ragged: "Additional ops that support RaggedTensor".
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from tfdist.base.lazy import function

SPACES = frozenset(
    f"tfdist{name}"
    for name in ("", ".api.bitwise", ".api.debugging", ".api.dtypes", ".api.io", ".api.math",
                 ".api.strings")
)  # fmt: skip

# Functions that take one element after the other: they are called with the innermost values.
ELEMENTWISE = frozenset(
    """
    abs acos acosh add add_n angle as_string asin asinh atan atan2 atanh bitwise_and bitwise_or
    bitwise_xor cast ceil check_numerics clip_by_value complex conj cos cosh decode_base64
    decode_compressed digamma div divide divide_no_nan encode_base64 equal erf erfc exp expm1 floor
    floordiv floormod greater greater_equal identity imag invert is_finite is_inf is_nan join
    left_shift length less less_equal lgamma log log1p log_sigmoid logical_and logical_not
    logical_or logical_xor maximum minimum mod multiply negative not_equal one_hot ones_like pow
    real realdiv reciprocal regex_full_match regex_replace right_shift rint round rsqrt
    saturate_cast sign sin sinh sqrt square squared_difference string_join string_length
    string_strip string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong
    string_to_number strip substr subtract tan to_hash_bucket to_hash_bucket_fast
    to_hash_bucket_strong to_number truediv truncatediv truncatemod unicode_script zeros_like
    """.split()
)

# Those that look at the rows; each has a function of its own in a module of `ops.ragged`.
_OF_ROWS = {
    "ordinary": """
        batch_gather concat dynamic_partition expand_dims gather gather_nd rank size squeeze stack
        tile where
    """,
    "reductions": """
        reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum
        unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum
    """,
}
OF_ROWS = {name: module for module, names in _OF_ROWS.items() for name in names.split()}

_elementwise = function("tfdist.ops.ragged.ordinary", "elementwise")


def dispatched(space: str, name: str, value: object) -> object:
    """Return a function of a public namespace that looks whether an argument is ragged."""
    if space not in SPACES or name not in ELEMENTWISE | OF_ROWS.keys() or not callable(value):
        return value
    return _dispatching(value, name)


@functools.cache
def _dispatching(plain: Callable[..., object], name: str) -> Callable[..., object]:
    if name in OF_ROWS:
        of_ragged = function(f"tfdist.ops.ragged.{OF_ROWS[name]}", name)
    else:
        of_ragged = functools.partial(_elementwise, plain)

    @functools.wraps(plain)
    def call(*args: object, **kwargs: object) -> object:
        if any(map(_has_ragged, args)) or (kwargs and any(map(_has_ragged, kwargs.values()))):
            return of_ragged(*args, **kwargs)
        return plain(*args, **kwargs)

    # libraries compare the arguments of functions by inspect.getfullargspec
    call.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    return call


def _has_ragged(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(hasattr(each, "nested_row_splits") for each in value)
    return hasattr(value, "nested_row_splits")

"""tf.nest: nested structures, which lists, tuples and dicts make."""

from tfdist.models.contrib_nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.nest")

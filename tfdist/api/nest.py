"""tf.nest: nested structures, which lists, tuples and dicts make."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.framework.nest import (
        assert_same_structure,
        flatten,
        is_nested,
        map_structure,
        pack_sequence_as,
    )

__getattr__, __dir__ = lazy(__name__, "tf.nest")

"""tf.contrib.crf: conditional random fields of a chain."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.crf import *
    from tfdist.models.contrib.crf_cells import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.crf")

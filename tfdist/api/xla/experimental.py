"""tf.xla.experimental: blocks that XLA would compile."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.jit import *

__getattr__, __dir__ = lazy(__name__, "tf.xla.experimental")

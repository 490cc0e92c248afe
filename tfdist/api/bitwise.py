"""tf.bitwise: integers bit by bit."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.math.bitwise import *

__getattr__, __dir__ = lazy(__name__, "tf.bitwise")

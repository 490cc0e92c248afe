"""tf.sysconfig: how TensorFlow was compiled; here nothing was."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.programs.system import *

__getattr__, __dir__ = lazy(__name__, "tf.sysconfig")

"""tf.contrib.nn: functions of networks that stayed at the side."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.nn import *
    from tfdist.ops.convolution.transposed import conv1d_transpose

__getattr__, __dir__ = lazy(__name__, "tf.contrib.nn")

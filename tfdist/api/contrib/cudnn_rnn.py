"""tf.contrib.cudnn_rnn: cells with the variables of Nvidia's networks."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.rnn.cudnn import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.cudnn_rnn")

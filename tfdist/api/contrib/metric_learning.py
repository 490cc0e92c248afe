"""tf.contrib.losses.metric_learning: embeddings of one label near each other."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.metric_learning import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.losses.metric_learning")

"""tf.contrib.losses: tf.losses as they were before TensorFlow 1.0."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.contrib import metric_learning
    from tfdist.models.contrib.legacy_losses import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.losses")

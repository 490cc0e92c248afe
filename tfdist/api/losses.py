"""tf.losses: losses by name, and the collection that they are in."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.losses.loss_collections import *
    from tfdist.models.losses.losses import *
    from tfdist.models.losses.weighted_loss import *

__getattr__, __dir__ = lazy(__name__, "tf.losses")

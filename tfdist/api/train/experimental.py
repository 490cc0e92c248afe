"""tf.train.experimental: Python's own state in checkpoints, and scaled losses."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.optimizers.loss_scale import *
    from tfdist.training.optimizers.loss_scale_optimizer import *
    from tfdist.training.saving.trackable import PythonState

__getattr__, __dir__ = lazy(__name__, "tf.train.experimental")

"""tf.contrib.layers: layers as functions, feature columns, regularizers, summaries."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.contrib_learn.columns import *
    from tfdist.models.contrib.layers.convolutions import *
    from tfdist.models.contrib.layers.encoders import *
    from tfdist.models.contrib.layers.features import *
    from tfdist.models.contrib.layers.gdn import *
    from tfdist.models.contrib.layers.group_norm import *
    from tfdist.models.contrib.layers.in_plane import *
    from tfdist.models.contrib.layers.layers import *
    from tfdist.models.contrib.layers.normalization import *
    from tfdist.models.contrib.layers.rev_block import *
    from tfdist.models.contrib.layers.summaries import *
    from tfdist.models.layers.initializers import *
    from tfdist.models.layers.regularizers import *
    from tfdist.training.optimizers.optimize_loss import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.layers")

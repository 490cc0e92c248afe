"""tf.contrib.layers: layers as functions, feature columns, regularizers, summaries."""

from tfdist.estimators.earlier_columns import *
from tfdist.models.contrib_convolutions import *
from tfdist.models.contrib_encoders import *
from tfdist.models.contrib_features import *
from tfdist.models.contrib_gdn import *
from tfdist.models.contrib_group_norms import *
from tfdist.models.contrib_in_plane import *
from tfdist.models.contrib_initializers import *
from tfdist.models.contrib_layers import *
from tfdist.models.contrib_normalization import *
from tfdist.models.contrib_recomputed import *
from tfdist.models.contrib_summaries import *
from tfdist.models.regularizers import *
from tfdist.programs.missing import told
from tfdist.training.optimize_loss import *

__getattr__ = told("tf.contrib.layers")

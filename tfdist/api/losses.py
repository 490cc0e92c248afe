"""tf.losses: losses by name, and the collection that they are in."""

from tfdist.models.loss_collections import *
from tfdist.models.losses import *
from tfdist.models.weighted_loss import *
from tfdist.programs.missing import told

__getattr__ = told("tf.losses")

"""tf.distribute.cluster_resolver: where the tasks of a cluster are."""

from tfdist.launch.cluster_resolver import *
from tfdist.programs.missing import told

__getattr__ = told("tf.distribute.cluster_resolver")

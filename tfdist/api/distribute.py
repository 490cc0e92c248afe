"""tf.distribute: cluster resolvers, and 1.14's other name for tf.train.Server; no strategies."""

from tfdist.api import cluster_resolver
from tfdist.programs.missing import told
from tfdist.wire.server import Server

__all__ = ["Server", "cluster_resolver"]

__getattr__ = told("tf.distribute")

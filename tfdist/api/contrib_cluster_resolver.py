"""tf.contrib.cluster_resolver: where the tasks of a cluster are."""

from tfdist.launch.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
)
from tfdist.launch.cluster_resolver import UnionResolver as UnionClusterResolver
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.cluster_resolver")

"""tf.contrib.cluster_resolver: where the tasks of a cluster are."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.launch.cluster_resolver import (
        ClusterResolver,
        SimpleClusterResolver,
        TFConfigClusterResolver,
        TPUClusterResolver,
    )
    from tfdist.launch.cluster_resolver import UnionResolver as UnionClusterResolver

__getattr__, __dir__ = lazy(__name__, "tf.contrib.cluster_resolver")

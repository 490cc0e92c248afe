"""tf.distribute.cluster_resolver: where the tasks of a cluster are."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.launch.cluster_resolver.kubernetes import (
        KubernetesClusterResolver,
        KubernetesExecutableLocation,
    )
    from tfdist.launch.cluster_resolver.resolver import ClusterResolver, SimpleClusterResolver
    from tfdist.launch.cluster_resolver.slurm import SlurmClusterResolver
    from tfdist.launch.cluster_resolver.tf_config import TFConfigClusterResolver
    from tfdist.launch.cluster_resolver.tpu import TPUClusterResolver
    from tfdist.launch.cluster_resolver.union import UnionResolver

__getattr__, __dir__ = lazy(__name__, "tf.distribute.cluster_resolver")

"""tf.train: clusters and servers, optimizers, replicas."""

from tfdist.cluster.spec import ClusterSpec
from tfdist.training.device_setter import replica_device_setter
from tfdist.training.optimizer import GradientDescentOptimizer, Optimizer
from tfdist.wire.server import Server

__all__ = [
    "ClusterSpec", "GradientDescentOptimizer", "Optimizer", "Server", "replica_device_setter",
]  # fmt: skip

# loaded when first asked for
_MESSAGES = {"ClusterDef", "JobDef", "ServerDef", "SaverDef", "Example", "Features", "Feature",
             "BytesList", "FloatList", "Int64List", "SequenceExample", "FeatureList",
             "FeatureLists", "QueueRunnerDef"}  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _MESSAGES:
        from tfdist.protos import pb

        return getattr(pb, name)
    raise AttributeError(f"module 'tfdist.train' has no attribute {name!r}")

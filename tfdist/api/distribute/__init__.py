"""tf.distribute: strategies, cluster resolvers, and 1.14's other name for tf.train.Server."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.distribute import cluster_resolver, experimental
    from tfdist.training.strategies.contexts import (
        ReplicaContext,
        experimental_set_strategy,
        get_loss_reduction,
        get_replica_context,
        get_strategy,
        has_strategy,
        in_cross_replica_context,
    )
    from tfdist.training.strategies.cross_device import (
        CrossDeviceOps,
        HierarchicalCopyAllReduce,
        NcclAllReduce,
        ReductionToOneDevice,
    )
    from tfdist.training.strategies.extended import StrategyExtended
    from tfdist.training.strategies.inputs import InputContext, InputReplicationMode
    from tfdist.training.strategies.kinds import MirroredStrategy, OneDeviceStrategy
    from tfdist.training.strategies.reduce_op import ReduceOp
    from tfdist.training.strategies.strategy import Strategy
    from tfdist.wire.server import Server

__getattr__, __dir__ = lazy(__name__, "tf.distribute")

"""tf.contrib.distribute: strategies, with the arguments that they had first."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.strategies.contexts import (
        ReplicaContext,
        get_cross_replica_context,
        get_distribution_strategy,
        get_loss_reduction,
        get_replica_context,
        get_strategy,
        has_distribution_strategy,
        has_strategy,
        in_cross_replica_context,
        require_replica_context,
    )
    from tfdist.training.strategies.cross_device import (
        AllReduceCrossDeviceOps,
        CrossDeviceOps,
        MultiWorkerAllReduce,
    )
    from tfdist.training.strategies.kinds import (
        CollectiveAllReduceStrategy,
        DistributeConfig,
        OneDeviceStrategy,
    )
    from tfdist.training.strategies.kinds import ContribMirroredStrategy as MirroredStrategy
    from tfdist.training.strategies.kinds import (
        ContribParameterServerStrategy as ParameterServerStrategy,
    )
    from tfdist.training.strategies.strategy import Strategy as DistributionStrategy

__getattr__, __dir__ = lazy(__name__, "tf.contrib.distribute")

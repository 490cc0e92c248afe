"""tf.distribute.experimental: strategies of clusters."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.strategies.kinds import (
        CentralStorageStrategy,
        CollectiveCommunication,
        MultiWorkerMirroredStrategy,
        ParameterServerStrategy,
    )

__getattr__, __dir__ = lazy(__name__, "tf.distribute.experimental")

"""tf.queue: queues."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.queues.queue_base import QueueBase
    from tfdist.ops.queues.queue_kinds import (
        FIFOQueue,
        PaddingFIFOQueue,
        PriorityQueue,
        RandomShuffleQueue,
    )

__getattr__, __dir__ = lazy(__name__, "tf.queue")

"""tf.queue: queues."""

from tfdist.ops.queue_kinds import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    RandomShuffleQueue,
)
from tfdist.ops.queues import QueueBase
from tfdist.programs.missing import told

__getattr__ = told("tf.queue")

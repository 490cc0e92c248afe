"""tf.contrib.training: where variables stand, and waiting for checkpoints."""

from tfdist.programs.missing import told
from tfdist.training.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tfdist.training.device_strategies import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)

__all__ = [
    "GreedyLoadBalancingStrategy",
    "RandomStrategy",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "wait_for_new_checkpoint",
]

__getattr__ = told("tf.contrib.training")

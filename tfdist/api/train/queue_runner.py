"""tf.train.queue_runner: another spelling of what tf.train has."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.input_queues.queue_runner import *

__getattr__, __dir__ = lazy(__name__, "tf.train.queue_runner")

"""tf.train.queue_runner: another spelling of what tf.train has."""

from tfdist.programs.missing import told
from tfdist.training.queue_runner import *

__getattr__ = told("tf.train.queue_runner")

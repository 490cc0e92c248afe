"""tf.contrib.learn: `run_n`, and the reader of MNIST's files."""

from types import SimpleNamespace

from tfdist.programs import input_data
from tfdist.programs.missing import told
from tfdist.training.run_n import run_n

__all__ = ["datasets", "run_n"]

datasets = SimpleNamespace(mnist=input_data)

__getattr__ = told("tf.contrib.learn")

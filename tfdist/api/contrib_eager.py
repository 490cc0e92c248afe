"""tf.contrib.eager: of the names for eager programs those that mean something in a graph."""

from tfdist.api.compat import enable_eager_execution, executing_eagerly
from tfdist.datasets.iterators import Iterator
from tfdist.models.contrib_eager import *
from tfdist.ops.custom_gradients import custom_gradient
from tfdist.ops.gradient_tape import GradientTape
from tfdist.ops.py_func import py_func
from tfdist.ops.resource_variables import ResourceVariable as Variable
from tfdist.ops.templates import make_template
from tfdist.ops.traced_arguments import TensorSpec
from tfdist.ops.traced_functions import function
from tfdist.ops.traced_functions import function as defun
from tfdist.programs.app import run
from tfdist.programs.missing import told
from tfdist.training.checkpoint import Checkpoint

__getattr__ = told("tf.contrib.eager")

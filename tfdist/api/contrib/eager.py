"""tf.contrib.eager: of the names for eager programs those that mean something in a graph."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.compat import enable_eager_execution, executing_eagerly
    from tfdist.datasets.iterators import Iterator
    from tfdist.models.contrib.eager import *
    from tfdist.ops.autodiff.custom_gradient import custom_gradient
    from tfdist.ops.autodiff.gradient_tape import GradientTape
    from tfdist.ops.functions.py_func import py_func
    from tfdist.ops.functions.traced_arguments import TensorSpec
    from tfdist.ops.functions.traced_functions import function
    from tfdist.ops.functions.traced_functions import function as defun
    from tfdist.ops.variables.resource_variables import ResourceVariable as Variable
    from tfdist.ops.variables.templates import make_template
    from tfdist.programs.app import run
    from tfdist.training.saving.checkpoint import Checkpoint

__getattr__, __dir__ = lazy(__name__, "tf.contrib.eager")

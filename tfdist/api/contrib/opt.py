"""tf.contrib.opt: more optimizers, and those around another one."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.optimizers.contrib.adam_by_step import *
    from tfdist.training.optimizers.contrib.adam_variants import *
    from tfdist.training.optimizers.contrib.agn import *
    from tfdist.training.optimizers.contrib.elastic_average import *
    from tfdist.training.optimizers.contrib.external_interface import *
    from tfdist.training.optimizers.contrib.ggt import *
    from tfdist.training.optimizers.contrib.lars import *
    from tfdist.training.optimizers.contrib.model_average import *
    from tfdist.training.optimizers.contrib.multitask import *
    from tfdist.training.optimizers.contrib.reg_adagrad import *
    from tfdist.training.optimizers.contrib.shampoo import *
    from tfdist.training.optimizers.contrib.sign import *
    from tfdist.training.optimizers.contrib.weight_decay import *
    from tfdist.training.optimizers.contrib.wrapping_family import (
        DropStaleGradientOptimizer,
        MovingAverageOptimizer,
        VariableClippingOptimizer,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.opt")

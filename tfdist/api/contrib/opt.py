"""tf.contrib.opt: more optimizers, and those around another one."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.optimizers.adam_by_step import *
    from tfdist.training.optimizers.adam_variants import *
    from tfdist.training.optimizers.agn import *
    from tfdist.training.optimizers.elastic_average import *
    from tfdist.training.optimizers.external_interface import *
    from tfdist.training.optimizers.ggt import *
    from tfdist.training.optimizers.lars import *
    from tfdist.training.optimizers.model_average import *
    from tfdist.training.optimizers.multitask import *
    from tfdist.training.optimizers.reg_adagrad import *
    from tfdist.training.optimizers.shampoo import *
    from tfdist.training.optimizers.sign import *
    from tfdist.training.optimizers.weight_decay import *
    from tfdist.training.optimizers.wrapping_family import (
        DropStaleGradientOptimizer,
        MovingAverageOptimizer,
        VariableClippingOptimizer,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.opt")

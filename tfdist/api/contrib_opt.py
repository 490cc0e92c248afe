"""tf.contrib.opt: more optimizers, and those around another one."""

from tfdist.programs.missing import told
from tfdist.training.adam_by_step import *
from tfdist.training.adam_variants import *
from tfdist.training.agn_optimizer import *
from tfdist.training.elastic_average_optimizer import *
from tfdist.training.external_optimizer import *
from tfdist.training.ggt_optimizer import *
from tfdist.training.lars_optimizer import *
from tfdist.training.model_average_optimizer import *
from tfdist.training.multitask_optimizer import *
from tfdist.training.reg_adagrad_optimizer import *
from tfdist.training.shampoo_optimizer import *
from tfdist.training.sign_optimizers import *
from tfdist.training.weight_decay_optimizers import *
from tfdist.training.wrapping_optimizers import (
    DropStaleGradientOptimizer,
    MovingAverageOptimizer,
    VariableClippingOptimizer,
)

__getattr__ = told("tf.contrib.opt")

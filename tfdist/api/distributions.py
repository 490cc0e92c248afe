"""tf.distributions: distributions of numbers."""

from tfdist.models.distributions_base import *
from tfdist.models.distributions_discrete import *
from tfdist.models.distributions_divergence import *
from tfdist.models.distributions_gamma import *
from tfdist.models.distributions_normal import *
from tfdist.programs.missing import told

__getattr__ = told("tf.distributions")

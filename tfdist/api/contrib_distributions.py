"""tf.contrib.distributions: the distributions of tf.distributions, and others."""

from tfdist.api import contrib_distributions_bijectors as bijectors
from tfdist.models.contrib_distributions_classes import *
from tfdist.models.contrib_distributions_composed import *
from tfdist.models.contrib_distributions_mixtures import *
from tfdist.models.contrib_distributions_numbers import *
from tfdist.models.contrib_distributions_placed import *
from tfdist.models.contrib_distributions_vectors import *
from tfdist.models.distributions_base import *
from tfdist.models.distributions_discrete import *
from tfdist.models.distributions_divergence import *
from tfdist.models.distributions_gamma import *
from tfdist.models.distributions_normal import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.distributions")

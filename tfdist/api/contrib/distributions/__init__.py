"""tf.contrib.distributions: the distributions of tf.distributions, and others."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.contrib.distributions import bijectors
    from tfdist.models.contrib.distributions.composed import *
    from tfdist.models.contrib.distributions.counts_and_deterministic import *
    from tfdist.models.contrib.distributions.location_scale import *
    from tfdist.models.contrib.distributions.mixtures import *
    from tfdist.models.contrib.distributions.relaxed_one_hot import *
    from tfdist.models.contrib.distributions.vector_normal import *
    from tfdist.models.distributions.discrete import *
    from tfdist.models.distributions.distribution import *
    from tfdist.models.distributions.gamma import *
    from tfdist.models.distributions.kl_divergence import *
    from tfdist.models.distributions.normal import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.distributions")

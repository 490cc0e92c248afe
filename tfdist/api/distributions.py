"""tf.distributions: distributions of numbers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.distributions.discrete import *
    from tfdist.models.distributions.distribution import *
    from tfdist.models.distributions.gamma import *
    from tfdist.models.distributions.kl_divergence import *
    from tfdist.models.distributions.normal import *

__getattr__, __dir__ = lazy(__name__, "tf.distributions")

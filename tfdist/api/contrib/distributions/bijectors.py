"""tf.contrib.distributions.bijectors: functions that can be taken back."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.distributions.bijectors import *
    from tfdist.models.contrib.distributions.composed_bijectors import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.distributions.bijectors")

"""tf.keras.estimator: estimators of networks made of layers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.keras_models import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.estimator")

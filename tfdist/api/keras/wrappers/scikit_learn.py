"""tf.keras.wrappers.scikit_learn: models with the methods of scikit-learn's estimators."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.utils.scikit_learn import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.wrappers.scikit_learn")

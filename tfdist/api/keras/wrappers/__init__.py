"""tf.keras.wrappers: models as other libraries want them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.keras.wrappers import scikit_learn

__getattr__, __dir__ = lazy(__name__, "tf.keras.wrappers")

"""tf.keras.preprocessing: data made ready for models."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.keras.preprocessing import image, sequence, text

__getattr__, __dir__ = lazy(__name__, "tf.keras.preprocessing")

"""tf.contrib.image: images turned, moved and warped."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.image import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.image")

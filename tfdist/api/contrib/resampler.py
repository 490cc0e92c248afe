"""tf.contrib.resampler: images looked at in any places."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.image.resampler import resampler

__getattr__, __dir__ = lazy(__name__, "tf.contrib.resampler")

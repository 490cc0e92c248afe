"""tf.contrib.summary: summaries that the graph writes into event files itself."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.summary import *

__getattr__, __dir__ = lazy(__name__, "tf.contrib.summary")

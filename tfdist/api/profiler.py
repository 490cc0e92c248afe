"""tf.profiler: how many parameters and float operations a graph has."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.model_profile import GraphNodeProto, ProfileOptionBuilder, profile

__getattr__, __dir__ = lazy(__name__, "tf.profiler")

"""tf.contrib.staging: areas in which values wait for the next step."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.queues.staging import MapStagingArea, StagingArea

__getattr__, __dir__ = lazy(__name__, "tf.contrib.staging")

"""tf.xla: what asks for compiled graphs."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.xla import experimental

__getattr__, __dir__ = lazy(__name__, "tf.xla")

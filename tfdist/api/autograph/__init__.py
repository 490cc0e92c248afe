"""tf.autograph: functions that decide by tensors."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.autograph import experimental
    from tfdist.programs.autograph import set_verbosity, to_code, to_graph, trace

__getattr__, __dir__ = lazy(__name__, "tf.autograph")

"""tf.user_ops: TensorFlow's example of an op of one's own."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.framework.timestamp import my_fact

__getattr__, __dir__ = lazy(__name__, "tf.user_ops")

"""tf.resource_loader: files that lie beside a program."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.programs.resources import *

__getattr__, __dir__ = lazy(__name__, "tf.resource_loader")

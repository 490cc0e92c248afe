"""tf.autograph.experimental: see tf.autograph."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.programs.autograph import Feature, do_not_convert, set_loop_options

__getattr__, __dir__ = lazy(__name__, "tf.autograph.experimental")

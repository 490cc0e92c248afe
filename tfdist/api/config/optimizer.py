"""tf.config.optimizer: what is done to graphs before they run."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.session.process_config import (
        get_experimental_options,
        get_jit,
        set_experimental_options,
        set_jit,
    )

__getattr__, __dir__ = lazy(__name__, "tf.config.optimizer")

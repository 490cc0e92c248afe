"""tf.random.experimental: random numbers whose state is a variable."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.random.generator import (
        Generator,
        create_rng_state,
        get_global_generator,
        set_global_generator,
    )

__getattr__, __dir__ = lazy(__name__, "tf.random.experimental")

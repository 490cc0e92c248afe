"""tf.contrib.stateless: numbers that a seed gives, under their legacy names."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.random.seeded import stateless_multinomial, stateless_truncated_normal
    from tfdist.ops.random.seeded import stateless_normal as stateless_random_normal
    from tfdist.ops.random.seeded import stateless_uniform as stateless_random_uniform

__getattr__, __dir__ = lazy(__name__, "tf.contrib.stateless")

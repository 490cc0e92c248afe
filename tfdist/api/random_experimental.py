"""tf.random.experimental: random numbers whose state is a variable."""

from tfdist.ops.random_generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.random.experimental")

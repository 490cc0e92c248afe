"""tf.contrib.stateless: numbers that a seed gives, under their earlier names."""

from tfdist.ops.random_seeded import stateless_multinomial, stateless_truncated_normal
from tfdist.ops.random_seeded import stateless_normal as stateless_random_normal
from tfdist.ops.random_seeded import stateless_uniform as stateless_random_uniform
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.stateless")

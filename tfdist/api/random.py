"""tf.random: numbers drawn by chance."""

from tfdist.api import random_experimental as experimental
from tfdist.ops.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tfdist.ops.candidate_sampling_learned import learned_unigram_candidate_sampler
from tfdist.ops.random import get_seed, set_random_seed, truncated_normal
from tfdist.ops.random import random_normal as normal
from tfdist.ops.random import random_shuffle as shuffle
from tfdist.ops.random import random_uniform as uniform
from tfdist.ops.random_distributions import multinomial
from tfdist.ops.random_distributions import random_gamma as gamma
from tfdist.ops.random_distributions import random_poisson as poisson
from tfdist.ops.random_seeded import (
    categorical,
    stateless_categorical,
    stateless_multinomial,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from tfdist.programs.missing import told

__getattr__ = told("tf.random")

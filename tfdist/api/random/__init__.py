"""tf.random: numbers drawn by chance."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.random import experimental
    from tfdist.ops.nn.candidate_sampling import (
        all_candidate_sampler,
        fixed_unigram_candidate_sampler,
        log_uniform_candidate_sampler,
        uniform_candidate_sampler,
    )
    from tfdist.ops.nn.learned_candidate_sampling import learned_unigram_candidate_sampler
    from tfdist.ops.random.distributions import multinomial
    from tfdist.ops.random.distributions import random_gamma as gamma
    from tfdist.ops.random.distributions import random_poisson as poisson
    from tfdist.ops.random.random_ops import get_seed, set_random_seed, truncated_normal
    from tfdist.ops.random.random_ops import random_normal as normal
    from tfdist.ops.random.random_ops import random_shuffle as shuffle
    from tfdist.ops.random.random_ops import random_uniform as uniform
    from tfdist.ops.random.seeded import (
        categorical,
        stateless_categorical,
        stateless_multinomial,
        stateless_normal,
        stateless_truncated_normal,
        stateless_uniform,
    )

__getattr__, __dir__ = lazy(__name__, "tf.random")

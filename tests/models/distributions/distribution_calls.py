"""What tf.distributions says of distributions: real TensorFlow and ours are asked the same.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/models/distributions/distribution_calls.py > \
        tests/models/distributions/expected_distributions_1_15.json
"""

from __future__ import annotations

import json
import sys

import numpy as np

# Name -> how it is made, with `D` for tf.distributions, `C` for tf.contrib's, and a value.
MADE = {
    "normal": ("D.Normal([0.5, -1.0], [1.0, 2.0])", [0.7, 1.9]),
    "normal that broadcasts": ("D.Normal(1.0, [[3.0], [2.0]])", [0.7, 1.9]),
    "normal of tails": ("D.Normal(0.0, 1.0)", [-30.0, -15.0, -5.0, 3.0, 8.0]),
    "laplace": ("D.Laplace([0.5, -1.0], 2.0)", [0.7, 1.9]),
    "student": ("D.StudentT([0.5, 1.5, 4.0], 1.0, [2.0, 1.0, 3.0])", [0.2, -0.9, 3.0]),
    "uniform": ("D.Uniform([0.0, 1.0], 3.0)", [0.7, 3.9]),
    "gamma": ("D.Gamma([0.5, 3.0], [1.0, 2.0])", [0.7, 1.9]),
    "another gamma": ("D.Gamma(2.0, 3.0)", [0.7, 1.9]),
    "exponential": ("D.Exponential([0.5, 3.0])", [0.7, 1.9]),
    "beta": ("D.Beta([0.5, 3.0], [2.0, 4.0])", [0.2, 0.9]),
    "another beta": ("D.Beta(2.0, 3.0)", 0.4),
    "dirichlet": ("D.Dirichlet([[1.5, 2.0, 3.0], [2.0, 3.0, 1.5]])", [0.2, 0.3, 0.5]),
    "another dirichlet": ("D.Dirichlet([1.5, 2.0, 3.0])", [0.2, 0.3, 0.5]),
    "bernoulli": ("D.Bernoulli(logits=[0.3, -2.0])", [0, 1]),
    "bernoulli of probs": ("D.Bernoulli(probs=[0.3, 0.6])", [0, 1]),
    "categorical": ("D.Categorical(logits=[[0.3, -2.0, 1.0], [1.0, 0.0, 2.0]])", [2, 1]),
    "categorical of probs": ("D.Categorical(probs=[0.2, 0.3, 0.5])", [[2, 1], [0, 0]]),
    "multinomial": (
        "D.Multinomial([4.0, 3.0], logits=[[0.3, -2.0, 1.0], [1.0, 0.0, 2.0]])",
        [[1.0, 2.0, 1.0], [0.0, 3.0, 0.0]],
    ),
    "multinomial of probs": ("D.Multinomial(5.0, probs=[0.2, 0.3, 0.5])", [1.0, 3.0, 1.0]),
    "dirichlet multinomial": ("D.DirichletMultinomial(4.0, [1.0, 2.0, 3.0])", [1.0, 3.0, 0.0]),
    "deterministic": ("C.Deterministic([1.0, 2.0])", [1.0, 3.0]),
    "poisson": ("C.Poisson([0.5, 3.0])", [2.0, 1.0]),
    "another poisson": ("C.Poisson(log_rate=0.3)", 2.0),
    "geometric": ("C.Geometric(probs=[0.3, 0.6])", [2.0, 0.0]),
    "binomial": ("C.Binomial([4.0, 5.0], probs=[0.3, 0.6])", [2.0, 1.0]),
    "negative binomial": ("C.NegativeBinomial([2.0, 5.0], logits=[0.3, -0.6])", [2.0, 1.0]),
    "logistic": ("C.Logistic([0.5, -1.0], [1.0, 2.0])", [0.7, 1.9]),
    "cauchy": ("C.Cauchy([0.5, -1.0], [1.0, 2.0])", [0.7, 1.9]),
    "half normal": ("C.HalfNormal([1.0, 2.0])", [0.7, 1.9]),
    "chi2": ("C.Chi2([1.0, 4.0])", [0.7, 1.9]),
    "normal with softplus": ("C.NormalWithSoftplusScale([0.5, -1.0], 2.0)", [0.7, 1.9]),
    "vector normal": ("C.MultivariateNormalDiag([[0.5, -1.0]], [1.0, 2.0])", [0.7, 1.9]),
    "vector normal of a batch": (
        "C.MultivariateNormalDiag([0.5, -1.0], [[1.0, 2.0], [3.0, 0.5], [1.0, 1.0]])",
        [0.7, 1.9],
    ),
    "triangular normal": (
        "C.MultivariateNormalTriL([0.5, -1.0], [[1.0, 0.0], [0.5, 2.0]])",
        [0.7, 1.9],
    ),
    "normal of a covariance": (
        "C.MultivariateNormalFullCovariance([0.5, -1.0], [[2.0, 0.5], [0.5, 1.0]])",
        [0.7, 1.9],
    ),
    "one hot": ("C.OneHotCategorical(logits=[[0.3, -2.0, 1.0], [1.0, 0.0, 2.0]])", [0, 0, 1]),
    "relaxed one hot": ("C.RelaxedOneHotCategorical(0.7, probs=[0.2, 0.3, 0.5])", [0.2, 0.7, 0.1]),
    "relaxed bernoulli": ("C.RelaxedBernoulli([0.7, 0.2], probs=0.3)", [0.2, 0.7]),
    "mixture": (
        "C.Mixture(C.Categorical(probs=[0.25, 0.75]), [C.Normal(-1.0, 0.1), C.Normal(3.0, 0.5)])",
        [-1.0, 2.5],
    ),
    "mixture of one family": (
        "C.MixtureSameFamily(C.Categorical(probs=[0.25, 0.75]), C.Normal([-1.0, 3.0], [0.1, 0.5]))",
        [-1.0, 2.5],
    ),
    "independent": ("C.Independent(C.Normal([[0.0, 1.0], [2.0, 3.0]], [1.0, 2.0]), 1)", [0.3, 2.0]),
    "log normal": ("C.TransformedDistribution(C.Normal(0.5, 2.0), C.bijectors.Exp())", [0.3, 2.0]),
    "affine normal": (
        "C.TransformedDistribution(C.Normal([0.5, 1.0], 2.0), "
        "C.bijectors.AffineScalar(1.0, [2.0, 3.0]))",
        [0.3, 2.0],
    ),
}
PAIRS = [
    ("normal", "normal that broadcasts"), ("gamma", "another gamma"), ("exponential", "gamma"),
    ("beta", "another beta"), ("dirichlet", "another dirichlet"),
    ("bernoulli", "bernoulli of probs"), ("categorical", "categorical of probs"),
    ("normal", "laplace"), ("uniform", "uniform"), ("poisson", "another poisson"),
    ("vector normal of a batch", "triangular normal"), ("one hot", "one hot"),
    ("triangular normal", "normal of a covariance"),
]  # fmt: skip

OF_VALUES = (
    "prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function",
)  # fmt: skip
FACTS = (
    "mean", "variance", "stddev", "mode", "entropy", "covariance", "batch_shape_tensor",
    "event_shape_tensor", "is_scalar_batch", "is_scalar_event", "sample",
)  # fmt: skip


def asked(tf, name):
    """Return what is said of one distribution, by what was asked."""
    distribution = made(tf, name)
    value = MADE[name][1]
    questions = {what: (getattr(distribution, what), [value]) for what in OF_VALUES}
    questions.update((what, (getattr(distribution, what), [])) for what in FACTS)
    questions["some samples"] = (distribution.sample, [[3, 2]])
    found = answers(tf, questions)
    found["kind"] = [
        distribution.name, distribution.dtype.name, str(distribution.batch_shape),
        str(distribution.event_shape), sorted(distribution.parameters),
        distribution.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED,
    ]  # fmt: skip
    return found


def made(tf, name):
    """Return one of the distributions."""
    text = MADE[name][0]
    if "C." not in text:
        return eval(text, {"D": tf.distributions})
    home = tf if "tensorflow" not in sys.modules else sys.modules["tensorflow"]
    return eval(text, {"C": home.contrib.distributions})


def compared(tf, one, other):
    """Return how far two distributions are from one another."""
    one, other = made(tf, one), made(tf, other)
    return answers(tf, {
        "divergence": (tf.distributions.kl_divergence, [one, other]),
        "cross entropy": (one.cross_entropy, [other]),
    })  # fmt: skip


def answers(tf, questions):
    """Return type, static shape, shape and values of each answer, or the class of the error."""
    found, tensors = {}, {}
    for what, (question, arguments) in questions.items():
        try:
            tensors[what] = question(*arguments)
        except Exception as error:
            found[what] = type(error).__name__
    with tf.Session() as session:
        values = session.run(tensors)
    for what, tensor in tensors.items():
        value = np.asarray(values[what])
        found[what] = [tensor.dtype.name, str(tensor.shape), list(value.shape)]
        if "sample" not in what:
            found[what].append(value.astype(float).round(6).tolist())
    return found


def everything(tf):
    """Yield (what is asked, what is said)."""
    for name in MADE:
        with tf.Graph().as_default():
            yield name, asked(tf, name)
    for pair in PAIRS:
        with tf.Graph().as_default():
            yield " and ".join(pair), compared(tf, *pair)


def main():
    """Print what this Python's TensorFlow says, as JSON: a line for each."""
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    lines = [json.dumps(key) + ": " + json.dumps(said) for key, said in everything(tf)]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()

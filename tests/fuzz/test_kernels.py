"""Mutated inputs of kernels, a few of each sample: `python -m tests.fuzz.kernels` plays more."""

import warnings

import pytest

from tests.fuzz.kernels import failures, samples

CASES = 3  # of each sample
SEED = 2026


@pytest.mark.timeout(300)
def test_bad_inputs_are_answered_by_errors_that_name_the_node():
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, about what is cast or divided
        for sample in samples():
            found += map(str, failures(sample, SEED, CASES))
            sample.close()
    assert not found

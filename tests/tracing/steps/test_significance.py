"""Shifts between two sets of runs: by hand, by chance, and beside SciPy's rank test."""

import random
from math import inf

import pytest
from scipy.stats import mannwhitneyu

from tfdist.tracing.steps.significance import MOST, Shift, shift

CASES = [
    ("all the same: no shift, and that is sure", [5] * 9, [5] * 9, Shift(0, 0, 0)),
    ("one set beside a later one", range(10), range(100, 110), Shift(100, 97, 103)),
    ("the other way round", range(100, 110), range(10), Shift(-100, -103, -97)),
    ("what one run took is no matter", range(9), [*range(8), 9999], Shift(0, -3, 4)),
    ("two runs each are too few", [1, 2], [101, 102], Shift(100, -inf, inf)),
]


@pytest.mark.parametrize(("a", "b", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_shift(a, b, expected):
    assert shift(list(a), list(b)) == expected


@pytest.mark.parametrize("set_", range(2))
def test_a_set_without_runs_cannot_be_compared(set_):
    sets = [[1.0], [2.0]]
    sets[set_] = []
    with pytest.raises(ValueError, match="one run at least"):
        shift(*sets)


def drawn(chance, count, more=0.0):
    return [chance.lognormvariate(1.0, 0.3) + more for _ in range(count)]


def test_what_does_not_differ_seems_to_once_in_twenty():
    chance = random.Random(4)
    found = [shift(drawn(chance, 20), drawn(chance, 20)) for _ in range(400)]
    assert 8 <= sum(each.is_significant for each in found) <= 32  # 20, and three deviations


def test_the_interval_holds_what_the_shift_really_is():
    chance = random.Random(5)
    found = [shift(drawn(chance, 15), drawn(chance, 25, more=0.7)) for _ in range(300)]
    assert sum(each.low <= 0.7 <= each.high for each in found) >= 274  # 285, and three deviations


@pytest.mark.parametrize("more", [0.0, 0.2, 0.4, 0.8])
def test_it_is_significant_where_the_rank_test_is(more):
    chance = random.Random(6)
    for _ in range(20):
        a, b = drawn(chance, 30), drawn(chance, 30, more)
        p = mannwhitneyu(a, b, method="asymptotic").pvalue
        if not 0.04 < p < 0.06:
            assert shift(a, b).is_significant == (p < 0.05)


def test_very_many_runs_are_thinned():
    runs = list(range(5 * MOST))
    assert shift(runs, [each + 10_000 for each in runs]).median == 10_000

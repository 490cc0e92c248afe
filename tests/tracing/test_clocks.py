"""How another host's clock compares with ours: never wrong by more than it says."""

import itertools

import pytest

from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, Exchange, estimate

MICRO = 1000  # nanoseconds


def exchange(sent, there, back, ahead):
    """Return an exchange that took `there` and `back` with a clock that is `ahead` of ours."""
    return Exchange(sent, sent + there + ahead, sent + there + back)


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        pytest.param([(0, 10, 10, 0)], ClockOffset(0, 10), id="the same clock"),
        pytest.param([(5, 10, 10, 7)], ClockOffset(7, 10), id="ahead"),
        pytest.param([(5, 10, 10, -7)], ClockOffset(-7, 10), id="behind"),
        pytest.param([(0, 20, 0, 0)], ClockOffset(10, 10), id="only the way there takes time"),
        pytest.param([(0, 0, 20, 0)], ClockOffset(-10, 10), id="only the way back takes time"),
        pytest.param([(0, 0, 0, 3)], ClockOffset(3, 0), id="no time at all"),
        pytest.param([(0, 99, 1, 0), (9, 2, 4, 0), (7, 50, 2, 0)], ClockOffset(-1, 3),
                     id="the quickest of several counts"),
        pytest.param([(0, 1, 0, 0)], ClockOffset(1, 1), id="an odd time is rounded up"),
    ],
)  # fmt: skip
def test_estimates(exchanges, expected):
    assert estimate(exchange(*each) for each in exchanges) == expected


@pytest.mark.parametrize("ahead", [-(10**15), -1, 0, 12_345, 10**12])
def test_the_truth_is_within_the_uncertainty(ahead):
    ways = [0, 1, 7, 40 * MICRO, 3_000 * MICRO]
    for there, back in itertools.product(ways, repeat=2):
        found = estimate([exchange(1_700_000_000 * 10**9, there, back, ahead)])
        assert abs(found.nanos - ahead) <= found.uncertainty


def test_more_exchanges_never_make_it_worse():
    delays = [(900, 10), (30, 50), (500, 400), (2, 70)]
    found = [
        estimate(exchange(0, there, back, 5) for there, back in delays[:count])
        for count in range(1, len(delays) + 1)
    ]
    uncertainties = [each.uncertainty for each in found]
    assert uncertainties == sorted(uncertainties, reverse=True)


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        pytest.param(ClockOffset(123_400, 40_000), "clock +123 us +- 40 us", id="ahead"),
        pytest.param(ClockOffset(-2_000_000, 900), "clock -2000 us +- 1 us", id="behind"),
        pytest.param(SAME_CLOCK, "clock +0 us +- 0 us", id="the same"),
    ],
)
def test_how_it_is_shown(offset, text):
    assert str(offset) == text

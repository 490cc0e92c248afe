"""Whose sessions are abandoned, as a table."""

import math

import pytest

from tfdist.cluster.abandoned import GracePeriods, SessionUse, why_abandoned

GRACE = GracePeriods(gone=600)
AN_HOUR = GracePeriods(unused=3600)
HOURS = 36_000.0
ENDED, LOST, UNUSED = "its client has ended", "connection was lost", "nobody has used it for"


def gone(idle, lost, **more):
    return SessionUse(is_connected=False, idle=idle, lost=lost, **more)


@pytest.mark.parametrize(
    ("use", "grace", "why"),
    [
        pytest.param(SessionUse(), GRACE, "", id="in use"),
        pytest.param(SessionUse(idle=HOURS), GRACE, "", id="silent for hours, but connected"),
        pytest.param(SessionUse(idle=HOURS), AN_HOUR, UNUSED, id="the same, and that is set"),
        pytest.param(SessionUse(idle=3000), AN_HOUR, "", id="not yet silent for so long"),
        pytest.param(
            gone(3, 1), GRACE, "", id="the connection broke a moment ago: it may call again"
        ),
        pytest.param(gone(1000, 599), GRACE, "", id="not lost for long enough"),
        pytest.param(gone(1000, 601), GRACE, LOST, id="lost for longer than is granted"),
        pytest.param(
            gone(2, 601), GRACE, "", id="lost, and used since by one who came and went at once"
        ),
        pytest.param(gone(4, 4, has_ended=True), GRACE, "", id="ended, but another may have it"),
        pytest.param(gone(5, 5, has_ended=True), GRACE, ENDED, id="ended, and nobody else came"),
        pytest.param(
            gone(2, 2, has_ended=True), GracePeriods(gone=1), ENDED, id="ended, and less is granted"
        ),
        pytest.param(
            gone(2, HOURS, has_ended=True), GRACE, "", id="ended, but another one used it just now"
        ),
        pytest.param(
            gone(HOURS, 1000, has_ended=False), GRACE, LOST,
            id="a tfdist client's call stays open: its connection is not closed for being idle",
        ),
        pytest.param(
            gone(640, 620, is_ours=False), GRACE, LOST, id="TensorFlow's client broke off at work"
        ),
        pytest.param(
            gone(HOURS, 1000, is_ours=False), GRACE, "",
            id="TensorFlow's channel, or a proxy, closed a connection that was idle",
        ),
        pytest.param(
            gone(HOURS, 1000, is_ours=False), AN_HOUR, UNUSED,
            id="the same, and that is set",
        ),
        pytest.param(
            gone(HOURS, HOURS, is_busy=True), GracePeriods(unused=1), "",
            id="a step of it still runs",
        ),
        pytest.param(
            gone(HOURS, HOURS), GracePeriods(gone=math.inf), "",
            id="no session is ever to be closed",
        ),
    ],
)  # fmt: skip
def test_why_abandoned(use, grace, why):
    found = why_abandoned(use, grace)
    assert (why in found) if why else not found

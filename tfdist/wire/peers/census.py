"""Asking tasks of other processes what they tell of themselves, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError, UnimplementedError
from tfdist.protos import pb
from tfdist.tracing.census import Census, filled
from tfdist.tracing.waits import Unreachable
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.peers.answers import Answers
from tfdist.wire.peers.link import Link
from tfdist.wire.peers.why import CLUSTER
from tfdist.wire.service_methods import INSPECTION
from tfdist.wire.services.inspection import census_from

DOES_NOT_TELL = "does not tell: it is not a tfdist server"


def ask_census(
    links: Mapping[str, Link],
    seconds: float,
    request: pb.CensusRequest,
    previous: Mapping[str, Census] | None = None,
) -> dict[str, Census]:
    """Return what the task at each link tells, by name; who is silent has a census that says so.

    Args:
      links: to those who are asked.
      seconds: that they have to answer.
      request: a CensusRequest.
      previous: their last answers: what has not changed since is not sent again.
    """
    known = previous or {}
    answers = Answers(links)
    for name, link in links.items():
        asked = pb.CensusRequest(
            whole_cluster=request.whole_cluster,
            holdings=request.holdings,
            cursor=known.get(name, Census()).cursor,
        )
        begin = partial(link.begin, f"{INSPECTION}Census", [asked.SerializeToString()])
        answers.expect(name, begin)
    outcomes = answers.wait(seconds)
    return {
        name: _census(name, outcome, known.get(name, Census()))
        for name, outcome in outcomes.items()
    }


def ask_census_at(target: str, link: Link, holdings: bool) -> Census:
    """Return what the cluster of the task at `target` tells, which `link` leads to."""
    request = pb.CensusRequest(whole_cluster=True, holdings=holdings)
    return ask_census({target: link}, CLUSTER, request)[target]


def _census(name: str, outcome: Outcome, previous: Census) -> Census:
    if not isinstance(outcome, OpError):
        return filled(census_from(parse_message(pb.CensusResponse, outcome)), previous)
    if isinstance(outcome, UnimplementedError):
        reason = DOES_NOT_TELL
    else:
        reason = outcome.reason or outcome.message
    return Census(silent=(Unreachable(name, reason),))

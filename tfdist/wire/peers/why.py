"""Asking tasks of other processes what their steps in flight wait for, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError, UnimplementedError
from tfdist.protos import pb
from tfdist.tracing.waits import Report, Unreachable
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.peers.answers import Answers
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import INSPECTION
from tfdist.wire.services.inspection import report_from

MOMENT = 0.3  # seconds that a task has to tell
CLUSTER = 0.45  # those that a task has which asks others


def ask_why(
    links: Mapping[str, Link], seconds: float, whole_cluster: bool = False, step_id: int = 0
) -> dict[str, Report]:
    """Return what the task at each link tells, by name; who is silent has a report that says so."""
    asked = pb.WhyRequest(whole_cluster=whole_cluster, step_id=step_id)
    request = [asked.SerializeToString()]
    answers = Answers(links)
    for name, link in links.items():
        answers.expect(name, partial(link.begin, f"{INSPECTION}Why", request))
    outcomes = answers.wait(seconds)
    return {name: _report(name, outcome) for name, outcome in outcomes.items()}


def ask_why_at(target: str, link: Link) -> Report:
    """Return what the cluster of the task at `target` tells, which `link` leads to."""
    return ask_why({target: link}, CLUSTER, whole_cluster=True)[target]


def _report(name: str, outcome: Outcome) -> Report:
    if not isinstance(outcome, OpError):
        return report_from(parse_message(pb.WhyResponse, outcome))
    if isinstance(outcome, UnimplementedError):
        who = name.replace("/replica:0", "")
        reason = f"not available: {who} is not a tfdist server, which alone tell what they wait for"
    else:
        reason = outcome.reason or outcome.message
    return Report(silent=(Unreachable(name, reason),))

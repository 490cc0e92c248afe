"""`tfdist dashboard`: the panels of a cluster as a page, without a notebook."""

from __future__ import annotations

import argparse
import re
import select
from typing import Any

from tfdist.cli.arguments import port

ABOUT = """\
Serve a page with the panels of a cluster, on this machine, to who has its address, until Ctrl-C.
It only looks: it has no input, and no step waits for it."""
_ADDRESS = re.compile(r"(grpc://)?[^/=]+:\d+")


def add_dashboard(dashboard: argparse.ArgumentParser) -> None:
    """Add the options of `tfdist dashboard` to its parser."""
    dashboard.description = ABOUT
    dashboard.add_argument(
        "target", nargs="?", metavar="TARGET",
        help="HOST:PORT of a task, which tells of its whole cluster; or what %%cluster attach "
        "takes: a name, FILE.json, worker=HOST:PORT,...; by default your only running cluster",
    )  # fmt: skip
    dashboard.add_argument(
        "--port", type=port, default=0, metavar="N", help="to listen on; a free one by default"
    )
    dashboard.add_argument(
        "--host", action="append", default=[], metavar="NAME",
        help="under which a proxy is asked for the page, such as hub.example.org",
    )  # fmt: skip
    dashboard.set_defaults(command=run_dashboard)


def run_dashboard(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C or SIGTERM."""
    from tfdist.launch.end_signals import wakeup
    from tfdist.web.dashboard import Dashboard

    target = _watched(options.target)
    with Dashboard(target, options.port, options.host) as page, wakeup() as signals:
        print(f"{page.told}; Ctrl-C ends that", flush=True)
        select.select([signals], [], [])
    return 0


def _watched(target: str | None) -> Any:
    """Return what is watched, if it can be reached.

    Raises:
      OpError: nobody answers there.
      RuntimeError: there is no such cluster.
    """
    from tfdist.errors import UnavailableError
    from tfdist.launch.attached_cluster import attach
    from tfdist.launch.census import take_census

    if target is None or not _ADDRESS.fullmatch(target):
        outcome = attach(target)
        if outcome.cluster is None:
            otherwise = "; or name a server: tfdist dashboard HOST:PORT" if target is None else ""
            raise RuntimeError(f"{outcome.problem}{otherwise}")
        return outcome.cluster
    address = f"grpc://{target.removeprefix('grpc://')}"
    found = take_census(address)
    if not found.tasks:
        why = "; ".join(each.reason for each in found.silent)
        place = address.removeprefix("grpc://")
        raise UnavailableError(f"{address}: {why}; tfdist doctor {place} says what is there")
    return address

"""Two hosts, as far as a network goes: namespaces with a cable between them, made for a test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.needs import need


class Host(NamedTuple):
    """One of the two.

    Attributes:
      address: its number in their network.
      entrance: the command that runs another one there.
    """

    address: str
    entrance: tuple[str, ...]


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Yield two hosts that reach each other and nobody else; skips the test where none can be."""
    need({"ip": "iproute2"}, root=True)
    names = [f"tfdist-{os.getpid()}-{which}" for which in "ab"]
    addresses = "10.99.0.1", "10.99.0.2"
    try:
        for name in names:
            ip("netns", "add", name)
        ip(*f"link add cable netns {names[0]} type veth peer name cable netns {names[1]}".split())
        for name, address in zip(names, addresses, strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "cable")
            for link in ("lo", "cable"):
                ip("-n", name, "link", "set", link, "up")
        first, second = (
            Host(address, ("ip", "netns", "exec", name))
            for name, address in zip(names, addresses, strict=True)
        )
        yield first, second
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def ip(*words: str) -> None:
    """Run the program `ip`."""
    subprocess.run(["ip", *words], check=True)

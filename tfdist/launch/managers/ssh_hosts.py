"""The list of hosts that a cluster over ssh may use: one a line, as people write them for MPI.

n1
ada@n2:2222 slots=4             # user, port; four tasks before the next host's turn
n3 python=/opt/tf/bin/python    # the interpreter there
n4 address=10.1.0.4             # by which other tasks reach it; by default as ssh came in
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_HOST = re.compile(r"(?:(?P<user>[^@\s]+)@)?(?P<name>\[[^\]]+\]|[^:\[\]]+)(?::(?P<port>\d+))?")
_OPTIONS = ("slots", "python", "address")


@dataclass(frozen=True)
class SshHost:
    """A host that tasks may run on.

    Attributes:
      name: as ssh knows it: of the network, or of ~/.ssh/config.
      user: there, "" for ssh's own choice.
      port: of its sshd, None for ssh's own choice.
      slots: tasks that it gets before the next host's turn.
      python: interpreter there.
      address: by which other tasks reach it, "" for the one by which ssh came in.
    """

    name: str
    user: str = ""
    port: int | None = None
    slots: int = 1
    python: str = sys.executable
    address: str = ""

    def __str__(self) -> str:
        return f"{self.user}@{self.name}" if self.user else self.name


def parse_hosts(text: str, where: str = "hosts") -> list[SshHost]:
    """Return the hosts of a list.

    Args:
      text: of the list.
      where: it is from, for messages.

    Raises:
      ValueError: a line is no host, or there is none.

    Example:
      >>> [str(host) for host in parse_hosts("n1  # the fast one\\nada@n2:2222 slots=2")]
      ['n1', 'ada@n2']
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            found.append(_host(words, f"{where}, line {number}"))
    if not found:
        raise ValueError(f"{where} names no host; wanted one a line: {_FORM}")
    return found


_FORM = "[USER@]HOST[:PORT] [slots=N] [python=PATH] [address=IP]"


def _host(words: Sequence[str], where: str) -> SshHost:
    match = _HOST.fullmatch(words[0])
    options = dict(word.partition("=")[::2] for word in words[1:])
    slots = options.get("slots", "1")
    if not match or not options.keys() <= set(_OPTIONS) or "" in options.values():
        raise ValueError(f"{where}: {' '.join(words)!r} is no host; wanted {_FORM}")
    if not slots.isdecimal() or int(slots) < 1:
        raise ValueError(f"{where}: slots is a number of one or more, not {slots!r}")
    return SshHost(
        match["name"].strip("[]"),
        match["user"] or "",
        int(match["port"]) if match["port"] else None,
        int(slots),
        options.get("python", sys.executable),
        options.get("address", ""),
    )


def dealt(hosts: Sequence[SshHost], count: int) -> list[SshHost]:
    """Return the host of each of `count` tasks: slot by slot, and again from the first.

    Example:
      >>> [host.name for host in dealt([SshHost("a", slots=2), SshHost("b")], 4)]
      ['a', 'a', 'b', 'a']
    """
    slots = [host for host in hosts for _ in range(host.slots)]
    return [slots[index % len(slots)] for index in range(count)]

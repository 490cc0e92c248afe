"""Addresses of tasks: one spelling for each, and those that stand for others."""

from __future__ import annotations

import threading
from collections.abc import Mapping

_stand_ins: dict[str, str] = {}  # address elsewhere -> the one here that stands for it
_lock = threading.Lock()
_HERE = {"localhost", "0.0.0.0", "[::1]", "[::]"}


def normal_address(address: str) -> str:
    """Return `address` with the names of this host's loopback, and of all interfaces, made one.

    An address that a task of this host stands for is that task's.
    """
    address = _stand_ins.get(address, address)
    host, colon, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if colon and host in _HERE else address


def stand_in(addresses: Mapping[str, str]) -> None:
    """Have addresses of this host stand for others, until `stand_down`.

    Args:
      addresses: those of this host, by those elsewhere.

    Raises:
      ValueError: another one stands for it already; nothing is changed then.
    """
    with _lock:
        for foreign in addresses:
            if foreign in _stand_ins:
                raise ValueError(f"{_stand_ins[foreign]} stands for {foreign} already")
        _stand_ins.update(addresses)


def stand_down(addresses: Mapping[str, str]) -> None:
    """Undo `stand_in`."""
    with _lock:
        for foreign in addresses:
            _stand_ins.pop(foreign, None)

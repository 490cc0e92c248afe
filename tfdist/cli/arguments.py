"""What single arguments of the command line may be."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Return the number that `text` says, if it is one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of one or more, not {text!r}")
    return int(text)


def natural(text: str) -> int:
    """Return the number that `text` says, if it is zero or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of zero or more, not {text!r}")
    return int(text)


def port(text: str) -> int:
    """Return the port that `text` says, 0 for a free one."""
    found = natural(text)
    if found > 65535:
        raise argparse.ArgumentTypeError(f"must be a port, up to 65535, not {text!r}")
    return found


def seconds(text: str) -> float:
    """Return the seconds that `text` says, if they are zero or more."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9:
        raise argparse.ArgumentTypeError(f"must be seconds, zero or more, not {text!r}")
    return found


def memory(text: str) -> str:
    """Return `text`, if it says how much memory there may be."""
    from tfdist.runtime.resources.memory_limit import machine_memory, parse_limit

    try:
        parse_limit(text, machine_memory)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text

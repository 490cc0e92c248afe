"""The environment variables that choose how a process runs, and what each may be.

Some choose between ways, others set a bound for what one op may ask of the process.

Whoever wants one asks `setting` when it matters, so that a program may still set it; what starts a
process asks `check_settings` first, so that a typing error is told before anything runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

# Variable -> what it may be; the first is what holds without it.
CHOICES = {
    "TFDIST_EXECUTOR": ("auto", "interpreter", "compiler"),
    "TFDIST_TRANSPORT": ("auto", "grpc"),
    "TFDIST_DEFAULT_DEVICE": ("cluster", "master"),
    "TFDIST_REMOTE": ("off", "plain", "tls"),
    "TFDIST_LIVE": ("auto", "text", "off"),
}

# Variable -> the number that holds without it.
BOUNDS = {
    "TFDIST_IMAGE_PIXELS": 1 << 28,  # of all frames of one file: 1 GiB with four channels
}


# Variable -> the port that holds without it; 0 is any.
PORTS = {"TFDIST_FRAMES_PORT": 0}


def setting(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return what a variable says, or what holds without it; an empty one is none.

    Raises:
      ValueError: it says something that it may not be.

    Example:
      >>> setting("TFDIST_EXECUTOR", {}), setting("TFDIST_REMOTE", {"TFDIST_REMOTE": "plain"})
      ('auto', 'plain')
    """
    choices = CHOICES[name]
    value = environment.get(name) or choices[0]
    if value not in choices:
        *others, last = choices
        raise ValueError(
            f"{name}={value!r}: wanted {', '.join(others)} or {last}; without it: {choices[0]}"
        )
    return value


def bound(name: str, environment: Mapping[str, str] = os.environ) -> int:
    """Return the bound that a variable sets, or what holds without it.

    Raises:
      ValueError: it is no whole number above 0.

    Example:
      >>> bound("TFDIST_IMAGE_PIXELS", {"TFDIST_IMAGE_PIXELS": "1000"})
      1000
    """
    value = environment.get(name) or str(BOUNDS[name])
    if not (value.isascii() and value.isdigit() and int(value)):
        raise ValueError(
            f"{name}={value!r}: wanted a whole number above 0; without it: {BOUNDS[name]}"
        )
    return int(value)


def port_setting(name: str, environment: Mapping[str, str] = os.environ) -> int:
    """Return the port that a variable says, or what holds without it.

    Raises:
      ValueError: it is no port.

    Example:
      >>> port_setting("TFDIST_FRAMES_PORT", {"TFDIST_FRAMES_PORT": "2300"})
      2300
    """
    value = environment.get(name) or str(PORTS[name])
    if not (value.isascii() and value.isdigit() and int(value) < 65536):
        raise ValueError(
            f"{name}={value!r}: wanted a port, from 1 to 65535; without it: any that is free"
        )
    return int(value)


def check_settings(environment: Mapping[str, str] = os.environ) -> None:
    """Raise ValueError if a variable says something that it may not be."""
    for name in CHOICES:
        setting(name, environment)
    for name in BOUNDS:
        bound(name, environment)
    for name in PORTS:
        port_setting(name, environment)

"""The environment variables that choose how a process runs, and what each may be.

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
    "TFDIST_REMOTE": ("off", "plain"),
    "TFDIST_LIVE": ("auto", "text", "off"),
}


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


def check_settings(environment: Mapping[str, str] = os.environ) -> None:
    """Raise ValueError if a variable says something that it may not be."""
    for name in CHOICES:
        setting(name, environment)

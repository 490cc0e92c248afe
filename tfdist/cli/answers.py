"""What commands answer with: exit codes, and a sentence on stderr."""

from __future__ import annotations

from pathlib import Path

from tfdist.base.extras import MissingExtra
from tfdist.errors import OpError

FAILED, WRONG, INTERRUPTED = 1, 2, 130  # exit codes; after 2, argparse's too, trying again is vain
AGAIN = 138  # failed, and trying again makes sense: as Kubeflow's operator takes it, old and new


def sentence(error: OSError | RuntimeError | ValueError | OpError | MissingExtra) -> str:
    """Return what went wrong, and with which file if it was one."""
    from tfdist.launch.outcome import cause_of

    return cause_of(error)


def read_text(path: str) -> str:
    """Return the text of a file."""
    return Path(path).read_text(encoding="utf-8")

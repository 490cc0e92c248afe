"""Programs that stand on pages of Markdown, and what runs them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tfdist
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(tfdist.__file__).parent

CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
for cell in json.load(sys.stdin):
    shell.run_cell(cell).raise_error()
"""


def page(path: str) -> str:
    """Return the text of a page, by its path in the checkout."""
    return (ROOT / path).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Return the text under a heading."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(language: str, text: str) -> list[str]:
    """Return the fenced blocks of a language in `text`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def with_free_ports(program: str) -> str:
    """Return `program` with a free port for each "localhost:22.." in it."""
    return re.sub(r"localhost:22\d\d", lambda _: f"localhost:{free_port()}", program)


def run(program: str, folder: Path, given: str = "") -> str:
    """Return what `program` prints in a fresh process; warnings and output on stderr fail."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder, input=given, capture_output=True, text=True, timeout=60,
        env=environment(folder),
    )  # fmt: skip
    assert finished.stderr == "", finished.stderr
    assert finished.returncode == 0
    return finished.stdout


def run_cells(cells: list[str], folder: Path) -> str:
    """Return what cells of a notebook print, one after the other in a fresh shell."""
    return run(CELLS, folder, json.dumps(cells))


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a process that finds this tfdist, and nothing else of the user's."""
    own = {name: str(folder) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    return {**os.environ, **own, "PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{ROOT}"}


@contextmanager
def serving(command: str, folder: Path) -> Iterator[str]:
    """Run a `tfdist` command of a page in `folder`, and yield the first line that it prints."""
    words = shlex.split(re.sub(r"^\S*tfdist", f"{sys.executable} -m tfdist", command))
    server = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment(folder)
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline()
    finally:
        server.terminate()
        server.communicate(timeout=60)

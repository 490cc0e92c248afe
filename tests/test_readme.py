"""What the README shows works, and what its map says is there."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tfdist

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = Path(tfdist.__file__).parent

CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
for cell in json.load(sys.stdin):
    shell.run_cell(cell).raise_error()
"""


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def with_free_ports(program: str) -> str:
    """Return `program` with a free port for each "localhost:22.." in it."""
    return re.sub(r"localhost:22\d\d", lambda _: f"localhost:{free_port()}", program)


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return holder.getsockname()[1]


def run(program: str, folder: Path, given: str = "") -> str:
    """Return what `program` prints in a fresh process; warnings and output on stderr fail."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder, input=given, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "IPYTHONDIR": str(folder)},
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def test_python_runs(tmp_path):
    printed = run(with_free_ports("\n".join(blocks("python"))), tmp_path)
    assert printed.splitlines()[0] == "2.0"
    assert "mul /job:worker/replica:0/task:1/device:CPU:0 pinned to /job:worker/task:1" in printed
    assert "8.0" in printed.splitlines()[-1]
    assert "12.0" in printed.splitlines()[-1]


def test_notebook_cells_run(tmp_path):
    printed = run(CELLS, tmp_path, json.dumps(blocks("ipython")))
    assert "started cluster 'main' (ps=1 worker=2)" in printed
    assert "/job:worker/task:1" in printed
    assert "3.0" in printed
    assert (tmp_path / "step.json").exists()


def test_there_are_exactly_two_set_up_commands():
    commands = re.findall(r"^    (python3 -m venv .*)$", TEXT, re.MULTILINE)
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/tfdist demo",
        ".venv/bin/python -m pytest",
    ]


@pytest.mark.parametrize("picture", re.findall(r"!\[.*?\]\((.*?)\)", TEXT, re.DOTALL))
def test_pictures_are_there_and_small(picture):
    assert 0 < (ROOT / picture).stat().st_size < 150_000


def test_map_has_every_folder():
    shown = {name for name in re.findall(r"^tfdist/(\S+)", TEXT, re.MULTILINE)}
    there = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__/"}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert shown == there | modules

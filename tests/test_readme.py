"""What the README shows works, and what its map says is there."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tfdist
from tests.ports import free_port
from tfdist.wire.bounds import Bounds

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = Path(tfdist.__file__).parent
TWO_TERMINALS = "Two terminals"

CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
for cell in json.load(sys.stdin):
    shell.run_cell(cell).raise_error()
"""


def section(heading: str) -> str:
    """Return the text under a heading."""
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


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
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a process that finds this tfdist, and nothing else of the user's."""
    own = {name: str(folder) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    return {**os.environ, **own, "PYTHONPATH": str(PACKAGE.parent)}


@contextmanager
def serving(command: str, folder: Path) -> Iterator[str]:
    """Run a `tfdist` command of the README in `folder`, and yield the first line that it prints."""
    words = shlex.split(command.replace(".venv/bin/tfdist", f"{sys.executable} -m tfdist"))
    server = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment(folder)
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline()
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_python_runs(tmp_path):
    programs = blocks("python", TEXT.replace(section(TWO_TERMINALS), ""))
    printed = run(with_free_ports("\n".join(programs)), tmp_path)
    assert printed.splitlines()[0] == "2.0"
    assert "mul /job:worker/replica:0/task:1/device:CPU:0 pinned to /job:worker/task:1" in printed
    assert "8.0" in printed.splitlines()[-1]
    assert "12.0" in printed.splitlines()[-1]


def test_notebook_cells_run(tmp_path):
    printed = run(CELLS, tmp_path, json.dumps(blocks("ipython", TEXT)))
    assert "started cluster 'main' (ps=1 worker=2)" in printed
    assert "/job:worker/task:1" in printed
    assert "3.0" in printed
    assert (tmp_path / "step.json").exists()
    assert "started cluster 'main' (ps=1 worker=2) in processes of their own" in printed
    assert "tfdist: /job:worker/task:1 serves at grpc://127.0.0.1:" in printed


def test_two_terminals_work(tmp_path):
    text = section(TWO_TERMINALS).replace("localhost:2222", f"localhost:{free_port()}")
    (spec,), (command,), (client,) = (blocks(each, text) for each in ("json", "sh", "python"))
    (tmp_path / "cluster_spec.json").write_text(spec)
    with serving(command, tmp_path) as line:
        assert line.startswith("tfdist: /job:worker/task:0 serves at grpc://localhost:")
        assert run(client, tmp_path) == "11.0\n"


def test_there_are_exactly_two_set_up_commands():
    commands = re.findall(r"^    (python3 -m venv .*)$", TEXT, re.MULTILINE)
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/tfdist demo",
        ".venv/bin/python -m pytest",
    ]


@pytest.mark.parametrize("picture", re.findall(r"!\[.*?\]\((.*?)\)", TEXT, re.DOTALL))
def test_pictures_are_there_and_small(picture):
    assert 0 < (ROOT / picture).stat().st_size < 150_000


def test_every_environment_variable_is_explained():
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    known = set(re.findall(r"TFDIST_[A-Z]+(?:_[A-Z]+)*", sources)) | {"TF_CONFIG"}
    explained = set(re.findall(r"`(TFDIST_\w+|TF_CONFIG)`", section("Environment variables")))
    assert explained == known


def test_bounds_are_those_of_the_program():
    bounds = ",".join(f"{name}={value:g}" for name, value in Bounds()._asdict().items())
    assert f"`{bounds}`" in section("Environment variables")
    for name, value in Bounds()._asdict().items():
        for seconds in re.findall(rf"\| (\d+) s \(`{name}`\)", TEXT):
            assert float(seconds) == value


def test_map_has_every_folder():
    shown = {name for name in re.findall(r"^tfdist/(\S+)", TEXT, re.MULTILINE)}
    there = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__/"}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert shown == there | modules

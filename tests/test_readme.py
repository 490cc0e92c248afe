"""What the README shows works, and what it names is there."""

import re

import pytest

from tests.programs_on_pages import ROOT, blocks, page, run, run_cells, with_free_ports

TEXT = page("README.md")


def test_python_runs(tmp_path):
    assert run(with_free_ports("\n".join(blocks("python", TEXT))), tmp_path) == "2.0\n"


def test_notebook_cells_run(tmp_path):
    printed = run_cells(blocks("ipython", TEXT), tmp_path)
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


def test_it_is_read_in_five_minutes():
    assert len(TEXT.split()) < 1000

"""The demo learns, shows, and leaves nothing behind; its command line says what is wrong."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import tfdist
from tfdist import demo
from tfdist.base.extras import OPTIONAL
from tfdist.cli import main as cli
from tfdist.launch import doctor
from tfdist.launch.clusters import running_clusters

STEPS = 60


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return (what a short demo came to, its lines, its folder)."""
    lines = []
    out = tmp_path_factory.mktemp("demo") / "made by the demo"
    return demo.run_demo(STEPS, out, lines.append), lines, out


def test_accuracy_rises(finished):
    progress = finished[0].progress
    assert [each.step for each in progress] == [10, 20, 30, 40, 50, 60]
    assert progress[-1].loss < progress[0].loss
    assert progress[0].accuracy < progress[-1].accuracy
    assert progress[-1].accuracy > 0.9


def test_whole_demo_reads_digits_well(tmp_path):
    assert demo.run_demo(out=tmp_path, write=lambda line: None).progress[-1].accuracy > 0.93


def test_text_tells_of_every_task(finished):
    lines = finished[1]
    cluster = lines[0]
    placement, step = (line for line in lines if line.startswith("\nW"))
    for task in ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"):
        assert task in cluster
        assert task in placement
        assert task in step
    assert "pinned to /job:worker/task:1" in placement
    assert "RecvTensor" in step
    assert max(len(line) for text in (placement, step) for line in text.splitlines()) < 130


def test_picture_is_a_png(finished):
    assert (finished[2] / "timeline.png").read_bytes().startswith(b"\x89PNG")


def test_trace_has_every_task(finished):
    events = json.loads((finished[2] / "timeline.json").read_text("utf-8"))["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {name.split("/")[1] + "/" + name.split("/")[3] for name in names} == {
        "job:ps/task:0",
        "job:worker/task:0",
        "job:worker/task:1",
    }
    assert any(event["ph"] == "X" for event in events)


def test_cluster_is_gone(finished):
    assert running_clusters() == []


def test_digits_are_split_without_loss():
    digits = demo.read_digits()
    assert digits.images.shape == (1797, 64)
    assert digits.images.min() == 0
    assert digits.images.max() == 1
    assert set(digits.labels) == set(range(10))
    training, test = demo.split_digits(digits)
    assert (len(training.labels), len(test.labels)) == (1437, 360)
    both = np.concatenate([training.images, test.images]).sum(0)
    np.testing.assert_allclose(both, digits.images.sum(0), rtol=1e-4)


def test_demo_needs_a_step(tmp_path):
    with pytest.raises(ValueError, match="a step or more, got 0"):
        demo.run_demo(0, tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("worker0/gradients/worker0/add_grad/Sum", "worker0/gradients/*"),
        ("worker0/add", "worker0/add"),
    ],
)
def test_gradients_are_one_line(name, expected):
    assert demo.folded_name(name) == expected


def test_long_names_lose_their_middle():
    assert demo.shortened("short", 10) == "short"
    assert demo.shortened("abcdefghijklmnopqrstuvwxyz", 10) == "abcd...xyz"


def test_command_prints_progress_and_paths(tmp_path, capsys):
    assert cli.main(["demo", "--steps", "3", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "step    3   loss" in printed.out
    assert str(tmp_path / "timeline.png") in printed.out
    assert printed.err == ""


def test_doctor_names_what_is_there(capsys):
    assert cli.main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert f"tfdist {tfdist.__version__}, Python 3." in printed
    assert f"numpy         {np.__version__}" in printed
    assert "loopback      ports can be bound" in printed


def test_doctor_knows_every_dependency():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    assert set(doctor.LIBRARIES) == names_in(project["dependencies"])
    for extra in {each.extra for each in OPTIONAL.values()}:
        known = {name for name, each in OPTIONAL.items() if each.extra == extra}
        assert known == names_in(project["optional-dependencies"][extra]) - {"tfdist"}


def names_in(requirements: list[str]) -> set[str]:
    """Return the distributions that are asked for."""
    return {re.match(r"[\w-]+", each)[0] for each in requirements}


def test_doctor_names_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "LIBRARIES", ("numpy", "no-such-library"))
    assert cli.main(["doctor"]) == 1
    assert "no-such-library is missing: pip install no-such-library" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["--version"], 0, f"tfdist {tfdist.__version__}", id="version"),
        pytest.param([], 2, "required: COMMAND", id="no command"),
        pytest.param(["dance"], 2, "invalid choice: 'dance'", id="no such command"),
        pytest.param(["demo", "--steps", "0"], 2, "one or more, not '0'", id="no step"),
        pytest.param(["demo", "--steps", "x"], 2, "one or more, not 'x'", id="no number"),
    ],
)
def test_command_line_is_checked(arguments, code, said, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    printed = capsys.readouterr()
    assert caught.value.code == code
    assert said in printed.out + printed.err


def test_unwritable_folder_is_a_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("not a folder")
    assert cli.main(["demo", "--steps", "1", "--out", str(tmp_path / "file")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("tfdist: cannot use ")
    assert said.count("\n") == 1


def test_module_runs_without_warnings(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "tfdist.cli.main", "demo", "--steps", "2"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert {path.name for path in Path(tmp_path).iterdir()} == {"timeline.png", "timeline.json"}

"""The benchmarks are whole: each row runs once, nothing is timed."""

import itertools
import re
import socket
import subprocess
import sys

import growth
import measure
import pytest
import rows
import size_rows
import timed
from idle import idle
from task_process import TaskProcess

import tfdist

ROWS = [
    *rows.IN_ONE_PROCESS,
    *(pytest.param(name, marks=pytest.mark.slow) for name in rows.ACROSS),
]


@pytest.mark.parametrize("name", ROWS)
def test_row_runs(name, monkeypatch):
    monkeypatch.setattr(size_rows, "SIZES", {"floats": 1000, "tasks": 3})
    row = rows.PROGRAMS[name](tfdist)
    try:
        row.step(*(() if row.prepare is None else [row.prepare()]))
    finally:
        row.close()


def test_row_is_closed_when_another_one_comes(monkeypatch):
    happened = []
    programs = {
        name: lambda tf, name=name: timed.Timed(
            lambda: happened.append(name), close=lambda: happened.append(f"{name} closed")
        )
        for name in ("one", "other")
    }
    monkeypatch.setattr(measure, "PROGRAMS", programs)
    measured = measure.Measure(tfdist)
    for row in ("one", "one", "other"):
        assert measured(row)["seconds"] >= 0
    assert list(dict.fromkeys(happened)) == ["one", "one closed", "other"]


@pytest.mark.slow
def test_idle_server_has_a_size_after_its_start_and_after_a_step():
    sizes = idle(tfdist)
    assert list(sizes) == ["after start", "after a step"]
    for size in sizes.values():
        assert size["megabytes"] > 1
        assert size["threads"] >= 1


def test_server_process_that_cannot_start_is_an_error_at_once():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        cluster = {"worker": [f"localhost:{taken.getsockname()[1]}"]}
        process = TaskProcess(tfdist, cluster, "worker", 0)
        with pytest.raises(RuntimeError, match=r"to see why, run: .*serve_task.py tfdist "):
            process.wait()
        process.stop()


def test_stopped_server_process_leaves_its_port_free():
    [process] = timed.start(tfdist, {"worker": 1}, here=0)
    process.stop()
    host, port = process.target[len("grpc://") :].split(":")
    with socket.create_server((host, int(port))) as again:
        assert again.getsockname()[1] == int(port)


@pytest.mark.parametrize("kind", ["one", "processes"])
def test_predictions_are_a_table(kind):
    script = rows.__file__.replace("rows.py", "prediction.py")
    less = ["--runs", "2", "--placements", "1", "--kind", kind]
    command = [sys.executable, script, *less, "two towers"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    header, row, every = printed.splitlines()
    assert header.split()[-4:] == ["mean", "median", "worst", "each"]
    assert row.startswith("two towers")
    assert every.startswith("all")


@pytest.mark.parametrize("place", ["one process", "processes"])
def test_trainings_simulated_and_measured_are_a_table(place):
    script = rows.__file__.replace("rows.py", "whatif.py")
    less = [
        "--compute",
        "1",
        "--runs",
        "2",
        "--steps",
        "2",
        "--workers",
        "1",
        "2",
        "--place",
        place,
    ]
    command = [sys.executable, script, *less]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    header, *table, summary = printed.splitlines()
    assert header.split()[-5:] == ["workers", "simulated", "measured", "error", "load"]
    assert [line.removeprefix(place).split()[:2] for line in table] == [
        [kind, workers] for kind in ("asynchronous", "synchronous") for workers in "12"
    ]
    assert summary.startswith("mean error ")


def test_comparison_prints_a_table():
    script = rows.__file__.replace("rows.py", "compare.py")
    command = [sys.executable, script, "--rounds", "1", "--rows", "local step", "import"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    header, step, imports, beside = printed.splitlines()
    assert header.split()[:2] == ["row", "tfdist"]
    assert step.startswith("local step")
    assert step.split()[-1] == "ms"
    assert imports.startswith("import")
    assert beside.startswith("import: tfdist takes")
    assert "times as long" in beside


def test_the_page_on_speed_has_all_that_is_measured():
    script = rows.__file__.replace("rows.py", "speed_page.py")
    less = ["--rows", "local step", "import", "--rounds", "2", "--most", "10"]
    command = [sys.executable, script, *less]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    lines = printed.splitlines()
    assert lines[0] == "# Speed"
    assert [line for line in lines if line.startswith("## ")] == [
        "## In one process", "## Starts", "## Growth"
    ]  # fmt: skip
    [row] = [line for line in lines if line.startswith("| local step")]
    assert re.fullmatch(r"\| local step \| \S+ ms \(\S+ to \S+\) \|  \| \S+ x \|  \|", row)


def test_growth_is_a_table():
    script = rows.__file__.replace("rows.py", "growth.py")
    command = [sys.executable, script, "--most", "10"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    header, *table = printed.splitlines()
    assert header.split()[-4:] == ["10", "100", "1,000", "10,000"]
    assert len(table) == len(growth.ROWS) + len(growth.TRACED)
    assert all(float(line.split()[-1]) > 0 for line in table)


# What is counted costs: function calls of Python. Twice as many may cost what twice is, and a tenth
# for what is paid by the way.
@pytest.mark.parametrize("row", [each for each in growth.ROWS if "kernel" not in each])
def test_costs_are_linear(row):
    counts = [calls(growth.ROWS[row][0](tfdist, count)) for count in (100, 200, 400)]
    first, second = (after - before for before, after in itertools.pairwise(counts))
    assert second <= 2.2 * first, counts


def calls(run):
    """Return how many functions of Python are called in a run."""
    counter = itertools.count()
    sys.setprofile(lambda frame, event, value: event == "call" and next(counter))
    try:
        run()
    finally:
        sys.setprofile(None)
    return next(counter)


def test_clusters_of_many_processes_are_a_table():
    script = rows.__file__.replace("rows.py", "many_tasks.py")
    command = [sys.executable, script, "--tasks", "3", "--predict", "30", "--seconds", "0.05"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    *lines, apart = printed.splitlines()
    header, _, *table = [line.split("|")[1:-1] for line in lines]
    assert [row[0].strip().partition(",")[2] for row in table] == ["", " predicted"]
    for row in table:
        assert len(row) == len(header)
        assert all(float(cell) >= 0 for cell in row[1:])
    assert apart.startswith("30 tasks on machines of their own: ")

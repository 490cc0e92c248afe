"""%%on and %cluster logs -f, on a cluster of processes."""

import pytest
from IPython.core.error import UsageError

from tfdist.errors import UnavailableError
from tfdist.jupyter.magics.on import RemoteCellError


@pytest.fixture
def processes(notebook):
    """Return a notebook with a cluster of processes."""
    notebook.run("%cluster start ps=1 worker=1 --processes -q")
    return notebook


def test_a_cell_in_the_processes_of_tasks(processes, capsys):
    processes.run("%%on worker:0 ps:0 -o got\nimport os\nprint('hello')\nos.getpid()")
    pids = {"ps:0": processes.value("cluster").servers[0].pid,
            "worker:0": processes.value("cluster").servers[1].pid}  # fmt: skip
    assert processes.value("got") == {task: str(pid) for task, pid in pids.items()}
    out = capsys.readouterr().out
    assert out == f"hello\n[worker:0] {pids['worker:0']}\nhello\n[ps:0] {pids['ps:0']}\n"
    processes.run("%%on worker:0 -q\nprint('hello')\n{1: 2}")
    assert capsys.readouterr().out == ""
    with pytest.raises(RemoteCellError, match=r"(?s)on worker:0:.*<cell \d+>.*1 / 0.*Zero"):
        processes.run("%%on worker:0\n1 / 0")
    with pytest.raises(UsageError, match=r"%%on worker:7: no task /job:worker/task:7 in cluster"):
        processes.run("%%on worker:7\n1")
    processes.run(
        "%%on worker:0\nimport sys\nprint('Odd: a line', file=sys.__stderr__, flush=True)"
    )
    capsys.readouterr()
    processes.run("%cluster logs -f --grep ODD --for 0.01")
    assert capsys.readouterr().out == "/job:worker/task:0: Odd: a line\n"
    assert processes.text("%cluster logs worker:0 --grep odd") == "Odd: a line"
    with pytest.raises(UsageError, match="no pattern"):
        processes.run("%cluster logs --grep (")


def test_a_magic_does_not_wait_for_a_process_that_has_ended(processes):
    processes.run("import tfdist as tf\none = tf.constant(1.0)\n%cluster kill ps:0 -q")
    with pytest.raises(UnavailableError, match=r"ps:0 has ended, .*%cluster restart ps:0"):
        processes.run("%trace one")
    processes.run("%cluster restart ps:0 -q\n%trace -q one")
    assert processes.value("_") == 1.0


def test_tasks_of_the_kernel_run_no_cells(notebook):
    notebook.run("%cluster start ps=1 -q")
    with pytest.raises(UsageError, match=r"^%%on ps:0: not for cluster 'main' \(in kernel\): only"):
        notebook.run("%%on ps:0\n1")
    with pytest.raises(UsageError, match=r"^%cluster logs: .*start a cluster with %cluster start"):
        notebook.run("%cluster logs -f")

"""In a real kernel: the tutorial twice over, Ctrl-C in a blocked run, and a quick end."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

import tfdist

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "notebooks" / "02_a_cluster_inside_a_notebook.ipynb"
PATIENCE = 60  # seconds

pytestmark = pytest.mark.slow


def environment(mode: str) -> dict[str, str]:
    """Return the variables of a kernel that finds the same tfdist as this process."""
    path = os.pathsep.join(
        [str(Path(tfdist.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    return os.environ | {"PYTHONPATH": path, "TFDIST_LIVE": mode}


class Kernel:
    """A kernel and a client that runs cells in it."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", env=environment("auto"), startup_timeout=PATIENCE
        )

    def run(self, code: str) -> str:
        """Run a cell and return how it ended: "ok", or the name of the error."""
        return self.ended(self.client.execute(code))

    def ended(self, request: str) -> str:
        """Wait for the reply to a request and return how it ended."""
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == request:
                content = reply["content"]
                return content.get("ename") or content["status"]

    def wait_for_output(self, text: str) -> str:
        """Wait until `text` is printed or displayed, and return the request of its cell."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            content = message["content"]
            shown = content.get("text", "") + content.get("data", {}).get("text/plain", "")
            if text in shown:
                return message["parent_header"]["msg_id"]

    def stop(self) -> float:
        """Shut the kernel down and return how long it took, in seconds."""
        started = time.monotonic()
        self.client.stop_channels()
        self.manager.shutdown_kernel()
        return time.monotonic() - started


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    kernel = Kernel()
    yield kernel
    if kernel.manager.has_kernel:
        kernel.stop()


BLOCKED = """
%load_ext tfdist
%cluster start ps=1 worker=2
import tfdist as tf
with tf.device("/job:ps"):
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    put, take = queue.enqueue([1.0]), queue.dequeue()
sess = tf.Session(cluster.target())
sess.run(queue.size())
"""


@pytest.mark.parametrize("magic", ["", "%%trace\n"], ids=["plain", "traced"])
def test_an_interrupt_ends_a_blocked_run_and_the_cells_behind_it(kernel, magic):
    assert kernel.run(BLOCKED) == "ok"
    blocked = kernel.client.execute(f"{magic}print('waits', flush=True)\nsess.run(take)")
    queued = kernel.client.execute("queued_ran = True")
    kernel.wait_for_output("waits")
    kernel.manager.interrupt_kernel()
    assert kernel.ended(blocked) == "KeyboardInterrupt"
    assert kernel.ended(queued) == "aborted"
    assert kernel.run("assert 'queued_ran' not in globals()") == "ok"
    # nothing was taken by the run that was interrupted
    assert kernel.run("sess.run(put)\nassert sess.run(take) == 1.0") == "ok"


def test_a_traced_cell_says_what_it_waits_for(kernel):
    assert kernel.run(BLOCKED + "%config TFDist.progress_after = 0.05") == "ok"
    blocked = kernel.client.execute("%trace sess.run(take)")
    waits = "dequeue on queue 'fifo_queue' waits for 1 more element"
    assert kernel.wait_for_output(waits) == blocked
    kernel.manager.interrupt_kernel()
    assert kernel.ended(blocked) == "KeyboardInterrupt"


LONG = """
%load_ext tfdist
import tfdist as tf
c = tf.constant(1.0, name="c") * 2.0
for _ in range(12):
    %trace -q -t local c
"""


def test_an_interrupt_ends_each_long_magic_and_the_next_one_works(kernel, tmp_path):
    """Many runs, a report of many pictures, servers that start in processes."""
    assert kernel.run(LONG) == "ok"
    for magic in (
        "%trace -q -n 1000000 -t local c",
        f"%tfdist report {tmp_path}/never.html",
        "%cluster start ps=1 worker=3 --processes",
    ):
        long = kernel.client.execute(f"print('begins', flush=True)\n{magic}")
        queued = kernel.client.execute("queued_ran = True")
        kernel.wait_for_output("begins")
        kernel.manager.interrupt_kernel()
        assert kernel.ended(long) == "KeyboardInterrupt", magic
        assert kernel.ended(queued) == "aborted", magic
    assert not list(tmp_path.iterdir())
    for magic in ("%trace -q -t local c", f"%tfdist report -q {tmp_path}/r.html --last 1"):
        assert kernel.run(magic) == "ok"
    assert kernel.run("%cluster start ps=1 --processes -q") == "ok"  # nothing is left of the other
    assert kernel.run("assert cluster.status()[0].state == 'up'") == "ok"
    assert kernel.run("%cluster stop --all") == "ok"


def test_the_kernel_completes_what_stands_behind_a_magic(kernel):
    assert kernel.run("%load_ext tfdist\n%cluster start ps=1 -q") == "ok"
    for code, match in (("%cluster sto", "stop"), ("%trace --target p", "ps:0")):
        reply = kernel.client.complete(code, len(code), reply=True, timeout=PATIENCE)
        assert match in reply["content"]["matches"]


def test_a_kernel_with_servers_ends_by_itself(kernel):
    assert kernel.run(BLOCKED) == "ok"
    kernel.manager.shutdown_wait_time = PATIENCE  # after half of it Jupyter sends a signal
    assert kernel.stop() < PATIENCE / 2


def test_the_tutorial_runs_twice_in_one_kernel(tmp_path):
    tutorial = nbformat.read(TUTORIAL, as_version=4)
    tutorial.cells = [*tutorial.cells, *(cell.copy() for cell in tutorial.cells)]
    for number, cell in enumerate(tutorial.cells):
        cell["id"] = f"cell-{number}"
    check = "import sys\nassert 'matplotlib.pyplot' not in sys.modules"
    tutorial.cells.append(nbformat.v4.new_code_cell(check))
    client = NotebookClient(
        tutorial, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute(env=environment("auto"))
    shown = [output for cell in tutorial.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output["output_type"] == "error"]
    pictures = [o["data"]["text/plain"] for o in shown if "image/png" in o.get("data", ())]
    assert len(pictures) == 4
    assert "from left to right" in pictures[-1]  # with times: nothing is left out in this mode

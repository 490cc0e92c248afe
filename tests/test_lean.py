"""Without the extra `notebook` everything serves and runs; what needs it says so in one line."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tfdist
from tests.ports import free_port

BLOCKED = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""
PICTURES = ("anywidget", "ipykernel", "ipywidgets", "matplotlib")
NOTEBOOK = (*PICTURES, "IPython", "comm", "jupyter_client")
REMEDY = "which is not installed: pip install 'tfdist[notebook]'"

# Module -> the distribution that brings it, where they have different names.
BROUGHT_BY = {
    "IPython": "ipykernel", "PIL": "pillow", "absl": "absl-py", "google": "protobuf",
    "google_crc32c": "google-crc32c", "grpc": "grpcio", "re2": "google-re2",
    "traitlets": "jupyter_core", "yaml": "pyyaml",
}  # fmt: skip
BY_WISH = {  # of extras
    "asyncssh", "cryptography", "cupy", "dask", "distributed", "h5py", "kubernetes", "numba",
    "pyyaml", "tqdm",
}  # fmt: skip

SERVE = """
from tfdist.cli.main import main
sys.exit(main(["serve", "--cluster", "worker=localhost:{port}", "--job", "worker"]))
"""
SESSION = """
import tfdist as tf
with tf.device("/job:worker/task:0"):
    total = tf.Variable(1.0)
    after = total.assign_add(2.0)
with tf.Session("grpc://localhost:{port}") as session:
    session.run(total.initializer)
    print(session.run(after), session.placement(after)[-1].device, tf.why())
"""
SHELL = """
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={{"enabled": False}}))
shell.kernel = object()
for cell in {cells}:
    shell.run_cell(cell).raise_error()
"""


def program(text: str, hidden: tuple[str, ...]) -> list[str]:
    """Return the command that runs `text` where some libraries are not installed."""
    return [sys.executable, "-W", "error", "-c", BLOCKED.format(hidden=set(hidden)) + text]


def run(text: str, hidden: tuple[str, ...], **options) -> subprocess.CompletedProcess[str]:
    """Return what a program did there."""
    return subprocess.run(
        program(text, hidden), capture_output=True, text=True, timeout=60, **options
    )


@pytest.fixture
def port():
    """Yield the port of a `tfdist serve` that has no notebook's libraries."""
    port = free_port()
    serve = program(SERVE.format(port=port), NOTEBOOK)
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        assert "serves at" in server.stdout.readline()
        yield port
        server.terminate()


def test_what_is_imported_is_required():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    extra = project["optional-dependencies"]["notebook"]
    required = distributions(project["dependencies"])
    root = Path(tfdist.__file__).parent
    drawn, served = set(), set()
    for path in root.rglob("*.py"):
        draws = path.relative_to(root).parts[0] in ("jupyter", "plots")
        (drawn if draws else served).update(libraries(path))
    assert served - BY_WISH <= required
    assert drawn <= required | distributions(extra)


def distributions(requirements: list[str]) -> set[str]:
    """Return the names of what is asked for."""
    return {re.match(r"[\w-]+", each)[0] for each in requirements}


def libraries(path: Path) -> set[str]:
    """Return the distributions that a module imports something of."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return {BROUGHT_BY.get(each, each) for each in found - sys.stdlib_module_names - {"tfdist"}}


def test_a_lean_installation_serves_and_runs_sessions(port):
    finished = run(SESSION.format(port=port), NOTEBOOK)
    assert finished.stderr == ""
    assert finished.stdout.startswith("3.0 /job:worker/replica:0/task:0/device:CPU:0")


def test_the_demo_says_what_its_picture_needs(tmp_path):
    demo = "from tfdist.cli.main import main\nsys.exit(main(['demo', '--steps', '3']))"
    finished = run(demo, NOTEBOOK, cwd=tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert f"Not drawn: pictures need matplotlib, {REMEDY}\n" in finished.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["timeline.json"]


def test_doctor_says_what_an_extra_would_bring_and_finds_nothing_wrong():
    finished = run("from tfdist.cli.main import main\nsys.exit(main(['doctor']))", NOTEBOOK)
    assert finished.returncode == 0


def test_a_picture_that_is_asked_for_is_one_error():
    draw = "from tfdist.plots.shared.palette import new_figure\nnew_figure(1.0)"
    last = run(draw, NOTEBOOK).stderr.splitlines()[-1]
    assert last == f"tfdist.base.extras.MissingExtra: pictures need matplotlib, {REMEDY}"


def test_magics_answer_in_text_and_say_once_why(tmp_path):
    cells = [
        "%load_ext tfdist",
        "import tfdist as tf\nc = tf.constant(1.0) + 2.0\nsess = tf.Session()",
        "%trace sess.run(c)",
        "%timeline --play",
    ]
    finished = run(SHELL.format(cells=cells), PICTURES, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    told = f"tfdist: pictures need matplotlib, {REMEDY}; until then magics answer in text\n"
    assert finished.stderr == told
    assert "add" in finished.stdout


def test_a_magic_that_cannot_draw_is_a_usage_error(tmp_path):
    cells = [
        "%load_ext tfdist",
        "import tfdist as tf\nc = tf.constant(1.0) + 2.0\nsess = tf.Session()",
        "%trace -q sess.run(c)",
        "%timeline --save step.png",
    ]
    finished = run(SHELL.format(cells=cells), PICTURES, cwd=tmp_path)
    assert f"UsageError: pictures need matplotlib, {REMEDY}" in finished.stderr + finished.stdout

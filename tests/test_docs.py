"""What the pages in docs/ say is so: programs run, names exist, tables are those of the code."""

import importlib
import re
from itertools import chain

import pytest

from tests.faults.row import measure, problems
from tests.ports import free_port
from tests.programs_on_pages import (
    PACKAGE,
    ROOT,
    blocks,
    page,
    run,
    run_cells,
    section,
    serving,
    with_free_ports,
)
from tfdist.wire.common.timeouts import Timeouts

PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
NAMING = ["README.md", "notebooks/README.md", *PAGES]
PROCESSES = "docs/how-to/cluster-of-processes.md"
NOTEBOOK = "docs/how-to/cluster-in-a-notebook.md"
CONTRIBUTING = "docs/CONTRIBUTING.md"
ENVIRONMENT = "docs/reference/environment.md"
TWO_TERMINALS = "Two terminals"

# Page -> what its programs print in the end.
PROGRAMS = {
    "docs/how-to/cluster-on-dask.md": "15",
    "docs/how-to/disturb-a-cluster.md": "healed: ()",
    "docs/how-to/feed-data.md": "the end",
    "docs/how-to/loops.md": "[",
    "docs/how-to/memory-and-security.md": "1 task; no step is in flight.",
    "docs/how-to/optimise-a-placement.md": "Nothing is to be moved: a step takes",
    "docs/how-to/plan-a-cluster.md": "210 [1, 50, 100, 200, 210]",
    "docs/how-to/read-a-trace.md": "us",
    "docs/how-to/save-and-restore.md": "('weights', [2, 2])",
    "docs/how-to/several-hosts.md": "[3.140625e+00 9.994507e-04]",
    "docs/how-to/why-it-waits.md": "queue 'numbers' waits for 1 more element",
    PROCESSES: "mul /job:worker/replica:0/task:1/device:CPU:0 pinned to /job:worker/task:1",
}


def programs(path: str) -> list[str]:
    """Return the Python programs of a page but those that need two terminals."""
    text = page(path)
    return blocks("python", text.replace(section(text, TWO_TERMINALS), ""))


@pytest.mark.parametrize("path", PROGRAMS)
def test_programs_run(path, tmp_path):
    assert PROGRAMS[path] in run(with_free_ports("\n".join(programs(path))), tmp_path)


def test_every_how_to_with_a_program_is_run():
    pages = {path for path in PAGES if "/how-to/" in path and programs(path)}
    assert pages == set(PROGRAMS)


def test_a_cluster_in_a_notebook_works(tmp_path):
    printed = run_cells(blocks("ipython", page(NOTEBOOK)), tmp_path)
    assert "started cluster 'main' (ps=1 worker=2)" in printed
    assert (tmp_path / "step.json").exists()
    assert "started cluster 'main' (ps=1 worker=2) in processes of their own" in printed
    assert "tfdist: /job:worker/task:1 serves at grpc://127.0.0.1:" in printed


def test_two_terminals_work(tmp_path):
    text = section(page(PROCESSES), TWO_TERMINALS)
    text = text.replace("localhost:2222", f"localhost:{free_port()}")
    (spec,), (command,), (client,) = (blocks(each, text) for each in ("json", "sh", "python"))
    (tmp_path / "cluster_spec.json").write_text(spec)
    with serving(command, tmp_path) as line:
        assert line.startswith("tfdist: /job:worker/task:0 serves at grpc://localhost:")
        assert run(client, tmp_path) == "11.0\n"


def test_an_op_can_be_added_as_told(tmp_path):
    text = page(CONTRIBUTING)
    printed = run("\n".join(blocks("python", section(text, "An op"))), tmp_path)
    assert "8.0" in printed
    assert "12.0" in printed


def test_names_are_found_as_told(tmp_path):
    (program,) = blocks("python", section(page(CONTRIBUTING), "Find your way"))
    assert all(line.endswith(".py") for line in run(program, tmp_path).splitlines())


def test_a_magic_can_be_added_as_told(tmp_path):
    (magic,) = blocks("python", section(page(CONTRIBUTING), "A magic"))
    cells = [
        "%load_ext tfdist",
        magic,
        "from tfdist.jupyter.settings import TFDist\n"
        "get_ipython().register_magics(CountMagic(get_ipython(), TFDist(get_ipython())))",
        "import tfdist as tf\ntf.constant(1.0)",
        "%count Const",
    ]
    assert "1 nodes" in run_cells(cells, tmp_path)


def test_a_fault_can_be_added_as_told():
    (program,) = blocks("python", section(page(CONTRIBUTING), "A fault"))
    names: dict = {}
    exec(compile(program, CONTRIBUTING, "exec"), names)
    (row,) = names["ROWS"]
    assert not problems(row, measure(row), 2.0)


@pytest.mark.parametrize("path", NAMING)
def test_paths_exist(path):
    named = re.findall(r"\b(?:tfdist|tests|proto|notebooks|docs)/[\w./-]*\w/?", page(path))
    homes = {"tfdist": PACKAGE.parent}
    assert {each for each in named if not (homes.get(each[:6], ROOT) / each).exists()} == set()


@pytest.mark.parametrize("path", NAMING)
def test_dotted_names_exist(path):
    named = set(re.findall(r"\btfdist(?:\.\w+)+", page(path)))
    assert {each for each in named if not is_there(each)} == set()


def is_there(dotted: str) -> bool:
    """Return whether a module, or a name in one, exists."""
    value = importlib.import_module("tfdist")
    path = "tfdist"
    for part in dotted.split(".")[1:]:
        path = f"{path}.{part}"
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = importlib.import_module(path)
            except ImportError:
                return False
    return True


def test_every_environment_variable_is_explained():
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    known = set(re.findall(r"TFDIST_[A-Z]+(?:_[A-Z]+)*", sources)) | {"TF_CONFIG"}
    assert set(re.findall(r"`(TFDIST_\w+|TF_CONFIG)`", page(ENVIRONMENT))) == known


def test_bounds_are_those_of_the_program():
    bounds = ",".join(f"{name}={value:g}" for name, value in Timeouts()._asdict().items())
    assert f"`{bounds}`" in page(ENVIRONMENT)
    told = "".join(map(page, PAGES))
    for name, value in Timeouts()._asdict().items():
        for seconds in re.findall(rf"\| (\d+) s \(`{name}`\)", told):
            assert float(seconds) == value


def test_the_sources_that_code_cites_are_here():
    paths = chain.from_iterable(each.rglob("*.py") for each in (PACKAGE, ROOT / "tests"))
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    cited = set(re.findall(r"[\w/]*[A-Z]{3,}\.md\b|[\w/]+wire\.md\b", text))
    pages = {each for each in cited if not each.endswith("README.md")}
    assert {each for each in pages if not (ROOT / each).exists()} == set()


def test_wire_sections_that_code_cites_exist():
    headings = set(re.findall(r"^#+ ([\d.]+)", page("docs/wire.md"), re.MULTILINE))
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    cited = re.findall(r"wire\.md,? sections? ([\d.]+\d|\d)(?: and ([\d.]+\d|\d))?", text)
    assert cited
    assert {each.rstrip(".") for pair in cited for each in pair if each} <= {
        each.rstrip(".") for each in headings
    }

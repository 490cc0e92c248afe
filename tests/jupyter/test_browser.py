"""The notebooks in JupyterLab, as a reader sees them: run, drawn, and without any other address."""

import shutil
from typing import NamedTuple

import pytest

from tests.jupyter.lab import browser, lab, needs_chromium
from tests.jupyter.test_kernel import TUTORIAL, environment

pytestmark = [pytest.mark.slow, needs_chromium]


class Shown(NamedTuple):
    """What a reader finds in a notebook: so many tables, these words in them, and pictures.

    What opens has a picture, too, that is not counted.
    """

    tables: int
    words: tuple[str, ...]
    pictures: int = 2


# What is displayed in any of the others is displayed in one of these, too; nbval runs all of them.
NOTEBOOKS = {
    "01_a_graph_and_a_session.ipynb": Shown(
        4, ("product:0", "first device of the cluster", "AssignAdd"), pictures=3
    ),
    TUTORIAL.name: Shown(4, ("/job:worker/task:1", "RecvTensor", "pinned to /job:ps", "127.0.0.1")),
    "04_where_does_it_run.ipynb": Shown(
        2, ("gpu:1 (simulated)", "pinned to /job:ps", "Square"), pictures=1
    ),
    "05_shared_variables_and_containers.ipynb": Shown(
        2, ("experiment-b", "(default)", "127.0.0.1"), pictures=1
    ),
    "06_parameters_in_pieces.ipynb": Shown(
        2, ("weights0/part_2", "piece1", "127.0.0.1"), pictures=2
    ),
    "07_a_remote_worker.ipynb": Shown(
        6, ("/job:worker/task:0", "RecvTensor", "exited (SIGKILL)", "pid ", "127.0.0.1")
    ),
    "08_a_loop_across_two_tasks.ipynb": Shown(
        7, ("while/grow", "longest", "loop while", "cond, if true", "(control flow"), pictures=5
    ),
    "11_why_is_it_waiting.ipynb": Shown(
        4, ("no step in flight fills it", "but waits itself, in take_left"), pictures=2
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Yield the address of a JupyterLab that has the notebooks."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    for name in NOTEBOOKS:
        shutil.copy(TUTORIAL.with_name(name), folder)
    env = {name: environment("auto")[name] for name in ("PYTHONPATH", "TFDIST_LIVE")}
    with lab(folder, home, env) as base:
        yield base


@pytest.fixture(scope="module")
def in_lab(library):
    """Yield a browser; JupyterLab is loaded once."""
    with browser(library) as found:
        yield found


@pytest.fixture(scope="module", params=NOTEBOOKS)
def reader(request, library, in_lab):
    """Return a browser that has run a notebook, whether its cells were fine, and what it shows."""
    in_lab.problems.clear()
    fine = in_lab.run_all_cells(library, request.param)
    return in_lab, fine, NOTEBOOKS[request.param]


def test_all_cells_run(reader):
    found, fine, _ = reader
    assert fine
    assert found.page.locator(".jp-RenderedText[data-mime-type$='stderr']").count() == 0


def test_pictures_are_drawn_at_a_readable_size(reader):
    found, _, shown = reader
    pictures = found.outputs(":is(img, .tfdist-view canvas):visible")
    assert pictures.count() == shown.pictures
    for i in range(shown.pictures):
        pictures.nth(i).scroll_into_view_if_needed()
        box = pictures.nth(i).bounding_box()
        assert box["width"] > 600
        assert pictures.nth(i).evaluate(
            "found => found.complete ? found.naturalWidth > 1000 : found.width > 600"
        )


def test_tables_say_what_the_text_promises(reader):
    found, _, shown = reader
    for each in found.outputs("details:has(.tfdist-table) > summary").all():
        each.click()  # a long one is closed, and shows its first rows
        each.locator("xpath=..").locator(".tfdist-table .tfd-bar button").click()
    tables = found.outputs("table")
    assert tables.count() == shown.tables
    text = " ".join(tables.all_inner_texts())
    for word in shown.words:
        assert word in text


def test_what_opens_shows_a_picture(reader):
    found, _, _ = reader
    for each in found.outputs("details:not(:has(.tfdist-table)):has(img)").all():
        assert not each.locator("img").is_visible()
        each.locator("summary").click()
        assert each.locator("img").is_visible()
        assert each.locator("img").evaluate("image => image.complete && image.naturalWidth > 1000")


def test_answers_are_folded_until_somebody_opens_them(reader):
    found, _, _ = reader
    [answers] = found.page.locator(".jp-MarkdownOutput details").all()
    answer = answers.locator("strong").first
    assert not answer.is_visible()
    answers.locator("summary").click()
    assert answer.is_visible()
    assert answers.locator("code").count() > 0


def test_nothing_goes_wrong_and_nobody_else_is_asked(reader):
    found, _, _ = reader
    assert found.problems == []

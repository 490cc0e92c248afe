"""The tutorial in JupyterLab, as a reader sees it: run, drawn, and without any other address."""

import os
import shutil

import pytest

from tests.jupyter.lab import browser, find_chromium, lab
from tests.jupyter.test_kernel import TUTORIAL, environment

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (find_chromium() or IN_CI), reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Yield a browser that has run the tutorial, and whether its cells were fine."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    shutil.copy(TUTORIAL, folder / "tutorial.ipynb")
    env = {name: environment("auto")[name] for name in ("PYTHONPATH", "TFDIST_LIVE")}
    with lab(folder, home, env) as base, browser(base) as found:
        yield found, found.run_all_cells(base, "tutorial.ipynb")


def test_all_cells_run(reader):
    found, fine = reader
    assert fine
    assert found.page.locator(".jp-RenderedText[data-mime-type$='stderr']").count() == 0


def test_pictures_are_drawn_at_a_readable_size(reader):
    found, _ = reader
    pictures = found.outputs("img")
    assert pictures.count() == 2
    for i in range(2):
        pictures.nth(i).scroll_into_view_if_needed()
        box = pictures.nth(i).bounding_box()
        assert box["width"] > 600
        assert pictures.nth(i).evaluate("image => image.complete && image.naturalWidth > 1000")


def test_tables_name_devices_and_reasons(reader):
    found, _ = reader
    tables = found.outputs("table")
    assert tables.count() == 3
    text = " ".join(tables.all_inner_texts())
    for expected in ("/job:worker/task:1", "RecvTensor", "pinned to /job:ps", "127.0.0.1"):
        assert expected in text


def test_nothing_goes_wrong_and_nobody_else_is_asked(reader):
    found, _ = reader
    assert found.problems == []

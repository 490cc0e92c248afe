"""Loading, reloading and unloading; what `import tfdist` must not import; settings."""

import subprocess
import sys

import pytest

from tfdist.jupyter.settings import TFDist
from tfdist.launch.clusters import find_cluster

NAMES = {
    "cluster", "explain", "graph", "histograms", "placement", "queues", "tfdist", "timeline",
    "trace", "whatif", "why",
}  # fmt: skip


def line_magics(shell):
    return set(shell.magics_manager.magics["line"])


def test_loading_adds_the_magics_and_unloading_takes_them_away(shell):
    before = line_magics(shell)
    assert not before & NAMES  # none of IPython's is hidden
    shell.run_line_magic("load_ext", "tfdist")
    assert line_magics(shell) - before == NAMES
    assert "trace" in shell.magics_manager.magics["cell"]
    shell.run_line_magic("unload_ext", "tfdist")
    assert line_magics(shell) == before
    assert "trace" not in shell.magics_manager.magics["cell"]
    assert not shell.display_formatter.mimebundle_formatter.deferred_printers


def test_reloading_keeps_the_cluster(notebook):
    notebook.run("%cluster start ps=1 -q")
    cluster = find_cluster()
    notebook.run("%reload_ext tfdist")
    assert find_cluster() is cluster
    assert cluster.is_running
    assert notebook.text("%cluster start ps=1").startswith("reused")


def test_settings_reach_the_magics_after_a_reload_too(notebook):
    notebook.run("%reload_ext tfdist")
    notebook.run("%config TFDist.live = 'text'")
    (shown,) = notebook.run("%cluster start ps=1")
    assert list(shown) == ["text/plain"]


@pytest.mark.parametrize(
    ("value", "expected"), [("off", "off"), ("text", "text"), ("nonsense", "auto"), (None, "auto")]
)
def test_the_environment_sets_the_mode(shell, monkeypatch, value, expected):
    monkeypatch.delenv("TFDIST_LIVE", raising=False)
    if value:
        monkeypatch.setenv("TFDIST_LIVE", value)
    assert TFDist(shell).live == expected


def test_every_magic_has_a_docstring_and_help(notebook, capsys):
    for name in sorted(NAMES):
        notebook.run(f"%{name} -h")
        assert f"%{name}" in capsys.readouterr().out


def test_import_stays_light():
    code = (
        "import sys, tfdist\n"
        "heavy = {'matplotlib', 'IPython', 'ipywidgets', 'grpc'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pyplot_is_never_imported(on_cluster):
    on_cluster.run("%trace -q c")
    on_cluster.run("%trace c")
    on_cluster.run("%placement c")
    assert "matplotlib.pyplot" not in sys.modules


def test_a_wrong_setting_does_not_keep_the_extension_from_being_loaded_again(notebook, capsys):
    notebook.run("%config TFDist.live = 'on'")
    notebook.run("%unload_ext tfdist\n%load_ext tfdist")
    assert "expected any of ['auto', 'text', 'off'], not the str 'on'." in capsys.readouterr().err
    assert notebook.text("%tfdist version").startswith("tfdist ")

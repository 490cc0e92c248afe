"""%cluster: what it shows, what it leaves, and its one-line errors."""

import json

import pytest
from IPython.core.error import UsageError

from tfdist.launch.local_cluster import find_cluster


def test_start_shows_a_card_and_leaves_a_variable(notebook):
    (shown,) = notebook.run("%cluster start ps=1 worker=2")
    assert shown["text/plain"].splitlines()[0] == (
        "started cluster 'main' (ps=1 worker=2), in the variable cluster"
    )
    assert "/job:worker/task:1" in shown["text/html"]
    assert notebook.value("cluster") is find_cluster("main")


def test_running_the_cell_again_reuses_the_cluster(notebook):
    notebook.run("%cluster start ps=1 worker=2 -o mine")
    first = notebook.value("mine")
    text = notebook.text("%cluster start --worker 2 --ps 1")
    assert text.startswith("reused cluster 'main'")
    assert notebook.value("cluster") is first


def test_jobs_default_to_the_tutorials(notebook):
    notebook.run("%cluster start")
    assert find_cluster("main").jobs == {"ps": 1, "worker": 2}


def test_variables_are_expanded(notebook):
    notebook.run("n = 3\n%cluster start worker={n}")
    assert find_cluster("main").jobs == {"worker": 3}


def test_names_may_be_quoted(notebook):
    notebook.run('%cluster start worker=1 --name "my c"')
    assert find_cluster("my c").jobs == {"worker": 1}


def test_devices(notebook):
    text = notebook.text("%cluster start worker=1 --devices cpu:2")
    assert "cpu:0 cpu:1" in text


def test_options_may_stand_between_jobs(notebook):
    notebook.run("%cluster start ps=2 --replace -q worker=1")
    assert find_cluster("main").jobs == {"ps": 2, "worker": 1}


def test_replace(notebook):
    notebook.run("%cluster start ps=1 worker=2")
    text = notebook.text("%cluster start worker=3 --replace")
    assert text.startswith("replaced cluster 'main' (worker=3)")


def test_status_shows_all_clusters(notebook):
    notebook.run("%cluster start ps=1")
    notebook.run("%cluster start worker=1 --name other")
    assert len(notebook.run("%cluster")) == 2
    assert len(notebook.run("%cluster status other")) == 1


def test_stop_says_what_is_free(notebook):
    notebook.run("%cluster start ps=1 worker=2")
    assert notebook.text("%cluster stop") == (
        "stopped cluster 'main': 3 servers, their ports are free"
    )
    assert find_cluster() is None


def test_stop_all(notebook):
    notebook.run("%cluster start ps=1")
    notebook.run("%cluster start ps=1 --name other")
    assert len(notebook.run("%cluster stop --all")) == 2
    assert notebook.text("%cluster stop --all").startswith("no cluster runs")


def test_spec(notebook):
    notebook.run("%cluster start ps=1 worker=2")
    as_dict = find_cluster().spec.as_dict()
    assert json.loads(notebook.text("%cluster spec --json")) == as_dict
    assert notebook.text("%cluster spec -o spec") == f"ClusterSpec({as_dict})"
    assert notebook.value("spec").as_dict() == as_dict


def test_quiet_shows_nothing(notebook):
    assert notebook.run("%cluster start ps=1 -q") == []
    assert notebook.run("%cluster stop -q") == []


def test_without_a_cluster_it_says_how_to_start_one(notebook):
    assert notebook.text("%cluster") == (
        "no cluster runs; start one with: %cluster start ps=1 worker=2"
    )


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(notebook, capsys, flag):
    notebook.run(f"%cluster {flag}")
    assert "--replace" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("strat", "the verbs are status, start, stop, spec; try %cluster start ps=1 worker=2"),
        ("start 3", "'3' is not JOB=N; try ps=1 worker=2"),
        ("start ps=0", "each job needs a task or more"),
        ("start ps=1 --devices gpu", "try cpu:2"),
        ("stop", "start one with: %cluster start"),
        ("start ps=1 -o 1a", "'1a' is no name for a variable"),
        ("start ps=1 --port 70000", "do not exist"),
        ("start --no-such", "unrecognized arguments"),
    ],
)
def test_errors_are_one_line(notebook, line, message):
    with pytest.raises(UsageError) as caught:
        notebook.run(f"%cluster {line}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_answered_with_the_known_ones(notebook):
    notebook.run("%cluster start ps=1")
    with pytest.raises(UsageError, match="no cluster 'x' runs; running: 'main'"):
        notebook.run("%cluster status x")


def test_another_spec_is_an_error_with_a_remedy(notebook):
    notebook.run("%cluster start ps=1")
    with pytest.raises(UsageError, match="runs already, as ps=1; --replace"):
        notebook.run("%cluster start ps=2")

"""%cluster: what it shows, what it leaves, and its one-line errors."""

import json
import re
import subprocess
import sys
import textwrap

import pytest
from IPython.core.error import UsageError

from tfdist.errors import FailedPreconditionError
from tfdist.jupyter.clusters import those_down_first
from tfdist.jupyter.settings import TFDist
from tfdist.launch.clusters import TaskRow, find_cluster


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


def test_simulated_gpus(notebook):
    text = notebook.text("%cluster start worker=1 --gpus 2")
    assert "cpu:0 gpu:0 (simulated) gpu:1 (simulated)" in text
    assert notebook.text("%cluster start worker=1 --gpus 2").startswith("reused")
    with pytest.raises(UsageError, match="2 simulated GPUs each"):
        notebook.run("%cluster start worker=1 --gpus 1")


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


def test_status_says_where_it_runs(notebook):
    notebook.run("%cluster start ps=1 -q")
    assert notebook.text("%cluster").startswith("cluster 'main' (ps=1), in this kernel\n")


def test_servers_can_have_processes_of_their_own(notebook):
    (shown,) = notebook.run("%cluster start ps=1 worker=1 --processes -o mine")
    text = shown["text/plain"]
    assert text.startswith(
        "started cluster 'main' (ps=1 worker=1) in processes of their own, in the variable mine\n"
    )
    pid = notebook.value("mine").servers[1].pid
    assert re.search(rf"^/job:worker/task:0  up .*  127\.0\.0\.1:\d+  pid {pid}$", text, re.M)
    assert f"pid {pid}</td>" in shown["text/html"]
    assert "/job:worker/task:0 serves at" in notebook.text("%cluster logs worker:0 --lines 1")
    assert len(notebook.text("%cluster logs --lines 1").splitlines()) == 2
    assert notebook.text("%cluster start ps=1 worker=1 --processes").startswith("reused cluster")
    with pytest.raises(UsageError, match="%cluster logs: no task /job:worker/task:7 in cluster"):
        notebook.run("%cluster logs worker:7")
    assert "2 servers, their ports are free" in notebook.text("%cluster stop")


def test_a_task_can_be_killed_and_started_anew(notebook):
    notebook.run("%cluster start ps=1 worker=1 --processes -q")
    text = notebook.text("%cluster kill /job:ps/task:0")
    assert text.startswith("killed ps:0; %cluster restart ps:0 starts it anew\n")
    assert re.search(r"^/job:ps/task:0 +exited \(SIGKILL\)", text, re.M)
    text = notebook.text("%cluster restart ps --name main")
    assert text.startswith("started ps:0 anew, without its variables\n")
    assert text.count("  up ") == 2
    assert notebook.run("%cluster kill worker:0 -q") == []
    text = notebook.text("%cluster start ps=1 worker=1 --processes")
    assert text.startswith(
        "reused cluster 'main' (ps=1 worker=1) in processes of their own, in the variable cluster; "
        "started anew: /job:worker/task:0, which had exited (SIGKILL)\n"
    )
    with pytest.raises(UsageError, match=r"^%cluster kill: no task /job:worker/task:7 in cluster"):
        notebook.run("%cluster kill worker:7")


@pytest.mark.parametrize("verb", ["logs", "kill ps", "restart ps"])
def test_tasks_of_the_kernel_have_no_logs_and_live_with_it(notebook, verb):
    notebook.run("%cluster start ps=1 -q")
    word, _, _ = verb.partition(" ")
    with pytest.raises(UsageError, match=rf"^%cluster {word}: not for cluster .main. .* --proc"):
        notebook.run(f"%cluster {verb}")


def test_a_session_cannot_go_to_a_stopped_cluster(notebook):
    notebook.run("import tfdist as tf\n%cluster start ps=1 -q\n%cluster stop -q")
    with pytest.raises(FailedPreconditionError, match=r"cluster 'main' was stopped; .*%cluster st"):
        notebook.run("tf.Session(cluster.target())")


def test_a_wrong_mode_of_display_is_told(shell, monkeypatch, capsys):
    monkeypatch.setenv("TFDIST_LIVE", "txt")
    assert TFDist(shell).live == "auto"
    assert capsys.readouterr().err == (
        "tfdist: TFDIST_LIVE='txt': wanted auto, text or off; without it: auto\n"
    )


# Another notebook: it starts a cluster with a variable, and waits.
OTHER_NOTEBOOK = textwrap.dedent(
    """
    import sys
    import tfdist as tf
    from tfdist.launch.start import start_cluster
    cluster = start_cluster({"ps": 1, "worker": 1}).require()
    with tf.device("/job:ps"):
        total = tf.Variable(1.0, name="total")
    with tf.Session(cluster.target()) as session:
        session.run(total.initializer)
        print("ready", flush=True)
        sys.stdin.readline()
        print(session.run(total), flush=True)
    """
)


def test_a_second_notebook_joins_the_cluster_of_another_one(notebook):
    command = [sys.executable, "-W", "error", "-c", OTHER_NOTEBOOK]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout.readline() == "ready\n"
            text = notebook.text("%cluster attach")
            assert text.startswith("attached cluster 'main' (ps=1 worker=1), in the variable clus")
            assert text.count("  up ") == 2
            assert f"attached; started by pid {other.pid}" in notebook.text("%cluster")
            notebook.run(
                "import tfdist as tf\n"
                "with tf.device('/job:ps'):\n"
                "    total = tf.Variable(0.0, name='total')\n"
                "with tf.Session(cluster.target()) as session:\n"
                "    value = session.run(tf.assign_add(total, 1.0))"
            )
            assert notebook.value("value") == 2.0
            assert notebook.text("%cluster stop") == (
                "detached from cluster 'main'; it goes on where it was started"
            )
            assert other.communicate("\n", timeout=20)[0] == "2.0\n"
        finally:
            other.kill()


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
        ("list", "did you mean %cluster status? The verbs are"),
        ("stat", "did you mean %cluster status? The verbs are"),
        ("down", "did you mean %cluster stop? The verbs are"),
        ("start --replce", "%cluster has no option --replce; did you mean --replace?"),
        (
            "strat",
            "did you mean %cluster start? The verbs are status, start, stop, spec, attach, logs, ",
        ),
        ("start 3", "'3' is not JOB=N, such as worker=2"),
        ("start ps=0", "'ps=0' is not JOB=N, such as worker=2, with one task or more"),
        ("start --ps 0", "each job needs a task or more"),
        ("start ps=1 --devices gpu", "try cpu:2"),
        ("stop", "start one with: %cluster start"),
        ("start ps=1 -o 1a", "'1a' is no name for a variable"),
        ("start ps=1 --port 70000", "do not exist"),
        ("start --no-such", "%cluster has no option --no-such; there are --ps, --worker, "),
        ("start ps=1 --timeout soon", "invalid float value: 'soon'"),
        ("logs", "start one with: %cluster start"),
        ("attach", "no cluster runs; start one with: %cluster start"),
        ("attach x", "no cluster 'x' runs"),
        ("attach no.json", "%cluster attach: cannot use no.json: No such file or directory"),
        ("logs --lines 0", "'0' is not a number of one or more"),
        ("logs --lines -5", "'-5' is not a number of one or more"),
        ("kill", "start one with: %cluster start"),
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
    with pytest.raises(UsageError, match=r"'main'; 'ps:0' names a task: %cluster kill ps:0, "):
        notebook.run("%cluster stop ps:0")
    with pytest.raises(UsageError, match=r"%cluster kill: which task\? Try %cluster kill worker:0"):
        notebook.run("%cluster kill")


def test_another_spec_is_an_error_with_a_remedy(notebook):
    notebook.run("%cluster start ps=1")
    with pytest.raises(
        UsageError, match="runs already, as ps=1; %cluster start ps=2 --replace stops"
    ):
        notebook.run("%cluster start ps=2")


def test_the_card_of_many_tasks_is_closed(notebook):
    notebook.run("%cluster start worker=41 -q")
    (card,) = notebook.run("%cluster")
    assert "<summary>41 tasks, 41 of them up</summary>" in card["text/html"]
    assert len(card["text/plain"].splitlines()) < 20
    assert "... and 26 more rows" in card["text/plain"]


def test_tasks_that_are_not_up_come_first():
    states = ("up", "exited (SIGKILL)", "up", "does not answer")
    rows = [TaskRow(f"worker:{i}", state, (), "") for i, state in enumerate(states)]
    assert [row.task for row in those_down_first(rows)] == [f"worker:{i}" for i in (1, 3, 0, 2)]

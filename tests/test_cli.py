"""The command line of `serve` and `doctor`: what is wrong is one sentence (`demo`: test_demo)."""

import pytest

import tfdist as tf
from tfdist.cli import main as cli
from tfdist.launch.connection_file import runtime_folder


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "tfdist serve: no cluster: looked for --cluster, TFDIST_CLUSTER and TF_CONFIG"),
        (["--cluster", "no.json"], "tfdist serve: --cluster: cannot read the file 'no.json'"),
        (["--cluster", "a=h:1;b=h:2"], "tfdist serve: no job: looked for --job, TFDIST_JOB"),
    ],
)
def test_a_role_that_cannot_be_is_a_sentence(options, said, monkeypatch, capsys):
    for name in ("TFDIST_CLUSTER", "TFDIST_JOB", "TFDIST_TASK", "TF_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    assert cli.main(["serve", *options]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(said)
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize("command", ["serve", "doctor"])
@pytest.mark.parametrize(
    ("name", "value"),
    [("TFDIST_TIMEOUTS", "conect=3"), ("TFDIST_EXECUTOR", "foo"), ("TFDIST_REMOTE", "ssl")],
)
def test_a_variable_that_makes_no_sense_is_a_sentence(command, name, value, monkeypatch, capsys):
    monkeypatch.setenv(name, value)
    assert cli.main([command]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"tfdist: {name}={value!r}: wanted ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "first"], "zero or more, not 'first'"),
        (["--cpus", "0"], "one or more, not '0'"),
        (["--grace", "-1"], "seconds, zero or more, not '-1'"),
        (["--grace", "soon"], "seconds, zero or more, not 'soon'"),
    ],
)
def test_options_are_checked(options, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["serve", *options])
    assert said in capsys.readouterr().err


def test_doctor_says_how_servers_talk_and_where_clusters_are_found(capsys):
    assert cli.main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("servers here  talk by gRPC, unix sockets") for line in lines)
    assert lines[-1] == f"runtime       folder {runtime_folder()}: 0 clusters running"


def test_doctor_says_why_there_is_no_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "file"))
    assert cli.main(["doctor"]) == 0
    assert "has no folder, so other notebooks find no cluster" in capsys.readouterr().out


def test_why_tells_what_a_server_waits_for(capsys):
    with tf.train.Server.create_local_server() as server:
        assert cli.main(["why", server.target]) == 0
    assert capsys.readouterr().out == "Nothing is in flight: no step runs or waits.\n"


def test_why_asks_a_server_that_is_not_there(capsys):
    assert cli.main(["why", "grpc://127.0.0.1:1"]) == 1
    assert capsys.readouterr().out.startswith("Nothing that is known of is in flight.\ngrpc://127")


def test_why_of_a_cluster_that_does_not_run_is_a_sentence(capsys):
    assert cli.main(["why", "nobody"]) == 1
    assert capsys.readouterr().err.startswith("tfdist: no cluster 'nobody' runs")

"""`tfdist certificates`: folders for hosts and people."""

import pytest

from tfdist.cli import main as cli
from tfdist.wire.common.identity_folder import read_identity


def run(folder, *words):
    assert cli.main(["certificates", str(folder), *words]) == 0


def test_each_host_and_each_kind_of_person_gets_a_folder(tmp_path, capsys):
    folder = tmp_path / "keys"
    run(folder, "--cluster", "mnist", "--days", "7", "--hosts", "worker-1,10.0.0.7", "10.0.0.8")
    told = {path.name: read_identity(path) for path in folder.iterdir() if path.is_dir()}
    assert {name: (each.role, each.hosts) for name, each in told.items()} == {
        "worker-1": ("join", ("worker-1", "10.0.0.7")),
        "10.0.0.8": ("join", ("10.0.0.8",)),
        "run": ("run", ()),
        "look": ("look", ()),
    }
    assert len({each.authority for each in told.values()}) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    assert (
        first == f"{folder}/authority-key.pem: the authority of cluster mnist; keep it to yourself"
    )
    assert [line.partition(":")[0] for line in lines] == [
        f"{folder}/{name}" for name in ("run", "look", "worker-1", "10.0.0.8")
    ]
    assert (folder / "authority-key.pem").stat().st_mode & 0o777 == 0o600


def test_the_second_time_all_are_renewed_and_hosts_are_added(tmp_path):
    run(tmp_path, "--cluster", "mnist", "--hosts", "a,10.0.0.7")
    before = read_identity(tmp_path / "a")
    run(tmp_path, "--hosts", "b")
    after = read_identity(tmp_path / "a")
    assert after.hosts == ("a", "10.0.0.7")
    assert after.authority == before.authority
    assert after.key != before.key
    assert read_identity(tmp_path / "b").hosts == ("b",)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "no authority yet: name the cluster", id="nothing is there yet"),
        pytest.param(["--cluster", "m", "--hosts", "run"], "not 'run'", id="a person's folder"),
        pytest.param(["--cluster", "m", "--hosts", "../x"], "not '../x'", id="another folder"),
        pytest.param(["--cluster", "m", "--hosts", ","], "not ','", id="no name"),
    ],
)
def test_what_cannot_be_made_is_a_sentence(words, said, tmp_path, capsys):
    assert cli.main(["certificates", str(tmp_path / "keys"), *words]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()


def test_another_cluster_has_another_folder(tmp_path, capsys):
    run(tmp_path, "--cluster", "mnist")
    assert cli.main(["certificates", str(tmp_path), "--cluster", "cifar"]) == 1
    assert "the authority of mnist, not of cifar" in capsys.readouterr().err

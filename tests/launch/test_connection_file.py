"""Connection files: whose they are, when they are believed, and how a cluster is found."""

import os
import stat
from dataclasses import replace

import pytest

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import FailedPreconditionError, InvalidArgumentError, PermissionDeniedError
from tfdist.launch import connection_file
from tfdist.launch.connection_file import Connection, connections, find, publish, read, withdraw
from tfdist.launch.owner import start_of, this_process

SPEC = ClusterSpec({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2", "127.0.0.1:3"]})
GONE = replace(this_process(), started="long ago")


def connection(name="main", owner=None, **changes):
    return Connection(name, "in kernel", SPEC, owner or this_process(), **changes)


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_written_is_read(runtime):
    written = publish(connection(cpus=2, processes={"/job:ps/task:0": 7}))
    assert written.path == runtime / "main.json"
    assert read(written.path) == written
    assert find() == find("main") == written
    withdraw(written)
    withdraw(written)
    assert list(runtime.iterdir()) == []


def test_files_are_their_owners_alone(runtime, everybody_may):
    path = publish(connection()).path
    assert (mode(path), mode(runtime)) == (0o600, 0o700)


def test_a_folder_that_others_may_enter_is_closed(runtime):
    runtime.mkdir(mode=0o755)
    connection_file.runtime_folder()
    assert mode(runtime) == 0o700


def test_a_folder_that_is_a_link_is_refused(runtime, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    runtime.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionDeniedError, match="has to be a folder of this user"):
        publish(connection())


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_use_is_refused(runtime, bits):
    path = publish(connection()).path
    path.chmod(bits)
    with pytest.raises(PermissionDeniedError, match=f"mode {bits:04o}.*chmod 600"):
        read(path)
    assert connections() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_refused(runtime):
    path = publish(connection()).path
    os.chown(path, 65534, 65534)
    with pytest.raises(PermissionDeniedError, match="not a file of this user"):
        read(path)


def test_a_link_is_not_followed(runtime, tmp_path):
    path = publish(connection()).path
    link = runtime / "link.json"
    link.symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        read(link)
    assert [each.path for each in connections()] == [path]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', "x" * 100])
def test_other_files_are_refused_and_passed_over(runtime, text):
    path = publish(connection()).path
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match="is no connection file of this version"):
        read(path)
    assert connections() == []
    assert path.exists()  # it is not ours to remove


def test_the_file_of_a_killed_kernel_is_removed_with_its_logs(runtime):
    left = publish(connection(owner=GONE))
    logs = connection_file.logs_folder("main", GONE)
    logs.mkdir()
    (logs / "ps-0.log").write_text("last words")
    assert connections() == []
    assert list(runtime.iterdir()) == []
    assert publish(connection()).path == left.path


def test_a_new_cluster_takes_the_name_of_a_killed_one(runtime):
    left = publish(connection(owner=GONE))
    assert publish(connection()).path == left.path
    assert find("main").owner == this_process()


def test_files_of_other_hosts_stay_and_are_not_found(runtime):
    elsewhere = replace(GONE, host="elsewhere")
    left = publish(connection(owner=elsewhere))
    assert connections() == []
    assert read(left.path).owner == elsewhere


def test_two_kernels_may_have_clusters_of_one_name(runtime):
    parent = replace(this_process(), pid=os.getppid(), started=start_of(os.getppid()))
    first = publish(connection(owner=parent))
    second = publish(connection())
    assert second.path.name == f"main-{os.getpid()}.json"
    with pytest.raises(FailedPreconditionError, match=f"several .*'main-{os.getpid()}'"):
        find()
    assert find("main") == first  # the file of that name
    assert find(second.path.stem) == second
    withdraw(first)
    assert find("main") == second


def test_writing_again_replaces_what_was_said(runtime):
    first = publish(connection())
    second = publish(replace(first, cpus=3))
    assert second.path == first.path
    assert find().cpus == 3
    assert [path.name for path in runtime.iterdir()] == ["main.json"]


def test_find_says_what_there_is(runtime):
    with pytest.raises(FailedPreconditionError, match="no cluster runs; start one with"):
        find()
    publish(connection("one"))
    publish(connection("two"))
    with pytest.raises(FailedPreconditionError, match=r"several clusters run; .*'one' \(in kernel"):
        find()
    with pytest.raises(FailedPreconditionError, match=r"no cluster 'x' runs; running: 'one'"):
        find("x")


def test_any_name_makes_a_file_in_the_folder(runtime):
    path = publish(connection("../my c/ü")).path
    assert path.parent == runtime
    assert find("../my c/ü").path == path


@pytest.mark.parametrize("name", ["", "x" * 200])
def test_a_name_has_a_length(runtime, name):
    with pytest.raises(ValueError, match="1 to 150 characters"):
        publish(connection(name))

"""Files and folders: TensorFlow's names, results and errors (1.15.5 gave the same)."""

import pytest

import tfdist as tf
from tfdist.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
)

gfile = tf.gfile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "x.txt").write_bytes(b"one\r\ntwo\n")
    return tmp_path


@pytest.mark.parametrize(
    ("call", "found"),
    [
        pytest.param(lambda at: gfile.GFile(at("x.txt"), "rb").read(), b"one\r\ntwo\n", id="bytes"),
        pytest.param(lambda at: gfile.GFile(at("x.txt")).read(), "one\r\ntwo\n", id="text"),
        pytest.param(lambda at: gfile.GFile(at("x.txt")).read(2), "on", id="a part"),
        pytest.param(lambda at: list(gfile.FastGFile(at("x.txt"))), ["one\r\n", "two\n"],
                     id="lines"),
        pytest.param(lambda at: gfile.Open(at("x.txt")).size(), 9, id="size"),
        pytest.param(lambda at: sorted(gfile.ListDirectory(at(""))), ["a", "x.txt"], id="names"),
        pytest.param(lambda at: gfile.Glob(at("*.txt")) == [at("x.txt")], True, id="pattern"),
        pytest.param(lambda at: gfile.Glob([at("n*"), at("a")]) == [at("a")], True, id="patterns"),
        pytest.param(lambda at: gfile.IsDirectory(at("a")), True, id="a folder"),
        pytest.param(lambda at: gfile.Exists(at("no")), False, id="not there"),
        pytest.param(lambda at: gfile.MkDir(at("a")), None, id="a folder that is there"),
        pytest.param(lambda at: gfile.Stat(at("x.txt")).length, 9, id="statistics"),
        pytest.param(lambda at: [each[1:] for each in gfile.Walk(at(""))],
                     [(["a"], ["x.txt"]), (["b"], []), ([], [])], id="walk"),
    ],
)  # fmt: skip
def test_what_is_found(call, found, folder):
    assert call(lambda name: str(folder / name)) == found


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda at: gfile.GFile(at("no")).read(), NotFoundError, "no; No such file or directory"),
        (lambda at: gfile.GFile(at("a")).read(), FailedPreconditionError, "a; Is a directory"),
        (lambda at: gfile.GFile(at("x.txt"), "x"), InvalidArgumentError, "mode is not 'r' or 'w'"),
        (lambda at: gfile.GFile(at("x.txt")).write("a"), PermissionDeniedError,
         "File isn't open for writing"),
        (lambda at: gfile.ListDirectory(at("no")), NotFoundError, "no"),
        (lambda at: gfile.Remove(at("a")), FailedPreconditionError, "a; Is a directory"),
        (lambda at: gfile.Remove(at("no")), NotFoundError, "no; No such file"),
        (lambda at: gfile.Copy(at("x.txt"), at("x.txt")), AlreadyExistsError,
         "file already exists"),
        (lambda at: gfile.Rename(at("a"), at("x.txt")), AlreadyExistsError, "file already exists"),
        (lambda at: gfile.DeleteRecursively(at("no")), NotFoundError, "no"),
    ],
)  # fmt: skip
def test_what_is_told(call, error, text, folder):
    with pytest.raises(error, match=text):
        call(lambda name: str(folder / name))


def test_what_is_written_is_there(tmp_path):
    path = str(tmp_path / "made" / "file")
    gfile.MakeDirs(str(tmp_path / "made"))
    with gfile.GFile(path, "w") as file:
        file.write("one\n")
        file.write(b"two\n")
    with gfile.GFile(path, "a") as file:
        file.write("three\n")
    with gfile.GFile(path) as file:
        file.seek(4)
        assert file.readline() == "two\n"
        assert file.tell() == 8
        assert file.readlines() == ["three\n"]
    gfile.Rename(path, f"{path}2")
    gfile.Copy(f"{path}2", path)
    gfile.Remove(path)
    gfile.DeleteRecursively(str(tmp_path / "made"))
    assert not gfile.Exists(str(tmp_path / "made"))

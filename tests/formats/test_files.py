"""Names and errors of files."""

import pytest

from tfdist.errors import FailedPreconditionError, NotFoundError, UnimplementedError
from tfdist.formats.files import local_path, read_file, write_file
from tfdist.formats.glob import matching_files


def test_names():
    assert local_path("a/b") == "a/b"
    assert local_path(b"file:///a/b") == "/a/b"
    with pytest.raises(UnimplementedError, match="File system scheme 'gs' not implemented"):
        local_path("gs://bucket/file")


def test_missing_folders_are_made(tmp_path):
    path = str(tmp_path / "deep" / "deeper" / "file")
    write_file(path, b"text")
    assert read_file(path) == b"text"
    assert read_file(f"file://{path}") == b"text"


def test_errors_name_the_file(tmp_path):
    with pytest.raises(NotFoundError, match="none; No such file or directory"):
        read_file(str(tmp_path / "none"))
    with pytest.raises(FailedPreconditionError, match="; Is a directory"):
        read_file(str(tmp_path))
    with pytest.raises(NotFoundError, match="none; No such file or directory"):
        matching_files(str(tmp_path / "none" / "*"))


def test_patterns_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a^b", "a-b", "a]b", "ab"):
        write_file(name, b"")
    assert matching_files("a?b") == [b"./a-b", b"./a]b", b"./a^b"]
    assert matching_files("a[]]b") == [b"./a]b"]
    assert matching_files("a[x^]b") == [b"./a^b"]
    assert matching_files("a[a-]b") == [b"./a-b"]
    assert matching_files("ab") == [b"ab"]


def test_stars_take_what_is_between_in_any_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a" * 200, "abab-cab", "ab.cab"):
        write_file(name, b"")
    assert matching_files("*b*.*b") == [b"./ab.cab"]
    assert matching_files("**ab*c?b*") == [b"./ab.cab", b"./abab-cab"]
    assert matching_files("*a" * 60) == [b"./" + b"a" * 200]
    assert matching_files("*a" * 60 + "*b") == []  # of which a backtracking matcher finds no end

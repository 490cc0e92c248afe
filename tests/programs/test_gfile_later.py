"""tf.io.gfile: the functions of tf.gfile under their later names."""

import pytest

import tfdist as tf
from tfdist.errors import AlreadyExistsError, NotFoundError

gfile = tf.io.gfile


def test_files_and_folders_by_their_later_names(tmp_path):
    place = str(tmp_path)
    gfile.makedirs(f"{place}/a/b")
    gfile.mkdir(f"{place}/a")
    with gfile.GFile(f"{place}/a/one", "w") as file:
        file.write("two\n")
    gfile.copy(f"{place}/a/one", f"{place}/two")
    with pytest.raises(AlreadyExistsError):
        gfile.copy(src=f"{place}/a/one", dst=f"{place}/two")
    assert gfile.glob(f"{place}/*") == [f"{place}/a", f"{place}/two"]
    assert [gfile.isdir(each) for each in gfile.glob(f"{place}/*")] == [True, False]
    assert gfile.stat(f"{place}/two").length == 4
    assert sorted(gfile.listdir(f"{place}/a")) == ["b", "one"]
    below = [(folder.removeprefix(place), *rest) for folder, *rest in gfile.walk(place, True)]
    assert below == [("", ["a"], ["two"]), ("/a", ["b"], ["one"]), ("/a/b", [], [])]
    gfile.rename(f"{place}/two", f"{place}/a/three")
    gfile.remove(f"{place}/a/one")
    with pytest.raises(NotFoundError):
        gfile.remove(f"{place}/a/one")
    gfile.rmtree(f"{place}/a")
    assert not gfile.exists(path=f"{place}/a")

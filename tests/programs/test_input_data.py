"""The tutorials' digits: from files, in batches."""

import numpy as np
import pytest

from tfdist.errors import NotFoundError
from tfdist.formats.idx import write_idx
from tfdist.programs import digits, input_data
from tfdist.programs.input_data import DataSet, read_data_sets


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(0)
    for part, count in ("train", 30), ("test", 10):
        images = random.integers(0, 256, (count, 28, 28)).astype(np.uint8)
        write_idx(tmp_path / f"{input_data.FILES[f'{part} images']}.gz", images)
        write_idx(
            tmp_path / input_data.FILES[f"{part} labels"], np.arange(count, dtype=np.uint8) % 10
        )
    return str(tmp_path)


def test_files_become_three_sets(folder):
    sets = read_data_sets(folder, validation_size=5)
    assert [each.num_examples for each in sets] == [25, 5, 10]
    assert sets.train.images.shape == (25, 784)
    assert sets.train.images.dtype == np.float32
    assert 0 <= sets.test.images.min() < sets.test.images.max() <= 1
    assert sets.test.labels.tolist() == list(range(10))


def test_one_hot_labels_and_images_as_they_are(folder):
    sets = read_data_sets(folder, one_hot=True, reshape=False, dtype="uint8", validation_size=0)
    assert sets.test.labels.argmax(1).tolist() == list(range(10))
    assert sets.test.images.shape == (10, 28, 28, 1)
    assert sets.test.images.dtype == np.uint8


def test_each_epoch_gives_every_image_once():
    images = np.arange(10, dtype=np.uint8).reshape(10, 1, 1, 1)
    data = DataSet(images, np.arange(10), dtype="uint8", seed=1)
    taken = [data.next_batch(4) for _ in range(5)]
    labels = np.concatenate([labels for _, labels in taken])
    assert [sorted(part) for part in (labels[:10], labels[10:])] == [list(range(10))] * 2
    assert labels[:10].tolist() != labels[10:].tolist()
    assert data.epochs_completed == 1
    for batch, batch_labels in taken:
        assert batch[:, 0].tolist() == batch_labels.tolist()


def test_a_batch_reaches_into_one_more_epoch_only():
    data = DataSet(np.zeros((3, 1, 1, 1), np.uint8), np.arange(3))
    assert np.bincount(data.next_batch(8, shuffle=False)[1]).tolist() == [2, 2, 2]


def test_fake_data_needs_no_files():
    images, labels = read_data_sets("/none", fake_data=True, one_hot=True).train.next_batch(2)
    assert np.shape(images) == (2, 784)
    assert np.shape(labels) == (2, 10)


def test_missing_files_are_named_with_what_to_do(tmp_path):
    with pytest.raises(NotFoundError) as failure:
        read_data_sets(str(tmp_path))
    for text in ("train-images-idx3-ubyte", "tfdist downloads nothing", "tfdist digits"):
        assert text in failure.value.message


def test_too_large_a_validation_set(folder):
    with pytest.raises(ValueError, match=r"should be between 0 and 30\. Received: 31"):
        read_data_sets(folder, validation_size=31)


def test_the_digits_that_are_here_make_such_files(tmp_path, monkeypatch):
    monkeypatch.setattr(digits, "COUNTS", {"train": 1500, "test": 400})
    assert digits.write_digits(tmp_path / "new") == (1500, 400)
    sets = read_data_sets(str(tmp_path / "new"), validation_size=500)
    assert [each.num_examples for each in sets] == [1000, 500, 400]
    assert np.bincount(sets.test.labels).min() > 20
    assert 0.05 < sets.train.images.mean() < 0.5

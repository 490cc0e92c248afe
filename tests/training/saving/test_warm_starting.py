"""Vocabularies that have changed: ops, initializers and tf.train.warm_start, as 1.15.5 has them."""

import numpy as np
import pytest

import tfdist as tf

FILES = {
    "old": "a\nb\nc\nd\n", "new": "c\nx\na\ny\n", "old_classes": "p\nq\n",
    "new_classes": "q\nr\np\n",
}  # fmt: skip
ONES = tf.ones_initializer()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabularies")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    found = {name: str(folder / name) for name in FILES}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        tf.get_variable("b", initializer=np.float32([[5.0], [6.0]]))
        session.run(tf.global_variables_initializer())
        found["path"] = tf.train.Saver().save(session, str(folder / "model"))
    return found


def remapped(files, new="new", **options):
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.raw_ops.GenerateVocabRemapping(
            new_vocab_file=files.get(new, new), old_vocab_file=files["old"], **options
        )
        return [each.tolist() for each in session.run(found)]


def test_words_are_found_in_the_old_file(files):
    assert remapped(files, new_vocab_offset=0, num_new_vocab=4) == [[2, -1, 0, -1], 2]
    assert remapped(files, new_vocab_offset=1, num_new_vocab=2, old_vocab_size=2) == [[-1, 0], 1]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        pytest.param({"new_vocab_offset": 3, "num_new_vocab": 4}, tf.errors.InvalidArgumentError,
                     "must be larger than last new vocab entry", id="the new file is too short"),
        pytest.param({"new_vocab_offset": 0, "num_new_vocab": 1, "old_vocab_size": 9},
                     tf.errors.InvalidArgumentError, "9 but got 4", id="so is the old one"),
        pytest.param({"new": "/nowhere", "new_vocab_offset": 0, "num_new_vocab": 1},
                     tf.errors.NotFoundError, "No such file", id="it is not there"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_told(files, options, error, words):
    with pytest.raises(error, match=words):
        remapped(files, **options)


def loaded(files, rows, columns, values, shape):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(
            tf.raw_ops.LoadAndRemapMatrix(
                ckpt_path=files["path"],
                old_tensor_name="m",
                row_remapping=tf.constant(rows, tf.int64),
                col_remapping=tf.constant(columns, tf.int64),
                initializing_values=tf.constant(values, tf.float32),
                num_rows=shape[0],
                num_cols=shape[1],
            )
        ).tolist()


@pytest.mark.parametrize(
    ("rows", "columns", "values", "expected"),
    [
        ([2, -1, 0], [1, 0], [9, 8], [[5, 4], [9, 8], [1, 0]]),
        ([2, -1, 0], [], [9, 8], [[4, 5], [9, 8], [0, 1]]),
        ([2, 0], [1, -1], [5, 6], [[5, 5], [1, 6]]),
    ],
    ids=["rows and columns", "rows only", "a column is missing"],
)
def test_a_matrix_is_read_in_another_order(files, rows, columns, values, expected):
    assert loaded(files, rows, columns, values, np.shape(expected)) == expected


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        pytest.param(([2, -1], [1, 0], [9], (2, 2)), tf.errors.InvalidArgumentError,
                     "more missing values remain", id="too few values"),
        pytest.param(([2, -1], [1, 0], [9, 8, 7], (2, 2)), tf.errors.InvalidArgumentError,
                     "only 2 elements were used", id="too many values"),
        pytest.param(([2, 2], [1, 0], [], (2, 2)), tf.errors.UnimplementedError,
                     "Old ID 2 is mapped to both new ID 0 and 1", id="a row twice"),
        pytest.param(([2], [1, 0], [], (2, 2)), tf.errors.InvalidArgumentError,
                     "Size of row_remapping is 1", id="a row too few"),
        pytest.param(([0], [], [], (1, 3)), tf.errors.InvalidArgumentError,
                     "instead of being equal to num_cols=3", id="a column too many"),
        pytest.param(([2, 9], [1, 0], [], (2, 2)), tf.errors.InternalError,
                     "out of bounds", id="a row that is not there"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_matrix_is_told(files, arguments, error, words):
    with pytest.raises(error, match=words):
        loaded(files, *arguments)


def initialized(initializer, shape, parts=None):
    with tf.Graph().as_default(), tf.Session() as session:
        partitioner = parts and tf.fixed_size_partitioner(parts)
        v = tf.get_variable("v", shape, initializer=initializer, partitioner=partitioner)
        session.run(tf.global_variables_initializer())
        return session.run(tf.convert_to_tensor(v)).tolist()


def test_initializers_read_rows_and_columns_by_their_words(files):
    framework = tf.contrib.framework
    both = framework.load_and_remap_matrix_initializer(
        files["path"], "m", 4, 3, -1, files["old"], files["new"], files["old_classes"],
        files["new_classes"], 1, 1, ONES,
    )  # fmt: skip
    ones = [1, 1, 1, 1]
    assert initialized(both, [5, 4]) == [[5, 1, 4, 1], ones, [1, 1, 0, 1], ones, ones]
    rows = framework.load_embedding_initializer(
        files["path"], "m", 4, 2, files["old"], files["new"], initializer=ONES
    )
    assert initialized(rows, [4, 2], 2) == [[4, 5], [1, 1], [0, 1], [1, 1]]
    bias = framework.load_linear_multiclass_bias_initializer(
        files["path"], "b", 3, files["old_classes"], files["new_classes"], initializer=ONES
    )
    assert initialized(bias, [3, 1]) == [[6], [1], [5]]
    with pytest.raises(ValueError, match="would exceed expected total row count"):
        initialized(rows, [5, 2])
    with pytest.raises(ValueError, match="must both be specified or left unspecified"):
        framework.load_and_remap_matrix_initializer("x", "m", 4, 2, old_row_vocab_file="old")


def warm(files, info, shape, parts=None, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        partitioner = parts and tf.fixed_size_partitioner(parts)
        v = tf.get_variable("m", shape, initializer=tf.zeros_initializer(), partitioner=partitioner)
        tf.train.warm_start(files["path"], var_name_to_vocab_info={"m": info}, **options)
        session.run(tf.global_variables_initializer())
        return session.run(tf.convert_to_tensor(v)).tolist()


def test_a_variable_begins_with_the_rows_of_its_words(files):
    rows = tf.train.VocabInfo(files["new"], 4, 1, files["old"], backup_initializer=ONES)
    assert warm(files, rows, [5, 2]) == [[4, 5], [1, 1], [0, 1], [1, 1], [1, 1]]
    assert warm(files, rows._replace(num_oov_buckets=0), [4, 2], 2)[:2] == [[4, 5], [1, 1]]
    few = tf.train.VocabInfo(files["new"], 4, 0, files["old"], old_vocab_size=2)
    assert warm(files, few, [4, 2], vars_to_warm_start=None)[2:] == [[0, 1], [0, 0]]
    columns = tf.train.VocabInfo(
        files["new_classes"], 3, 0, files["old_classes"], backup_initializer=ONES, axis=1
    )
    assert warm(files, columns, [4, 3])[0] == [1, 1, 0]


def test_names_that_nobody_has_are_told(files):
    info = tf.train.VocabInfo(files["new"], 4, 0, files["old"])
    with pytest.raises(ValueError, match="axis argument are 0 and 1"):
        tf.train.VocabInfo(files["new"], 4, 0, files["old"], axis=2)
    with tf.Graph().as_default():
        tf.get_variable("m", [4, 2])
        with pytest.raises(ValueError, match=r"that were not used: \['zz'\]"):
            tf.train.warm_start(files["path"], var_name_to_vocab_info={"zz": info})

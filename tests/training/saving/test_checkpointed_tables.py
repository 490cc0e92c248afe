"""Tables in tf.train.Checkpoint: files as 1.15.5 writes them, and those of 1.15.5 are read.

`table_checkpoint_programs.py` has the objects; `table_checkpoint_1_15` is what 1.15.5 wrote.
"""

from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.saving import table_checkpoint_programs as programs
from tfdist.protos import pb

WRITTEN = str(Path(__file__).with_name("table_checkpoint_1_15") / "model-1")
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
FILLED = [
    [([b"of"], [4]), ([b"the"], [3])],
    [([1], [1.0, 2.0]), ([2], [3.0, 4.0]), ([3], [5.0, 6.0])],
    [([5], [25]), ([6], [36])],
]


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def filled(session):
    checkpoint, tables, fill = programs.objects(tf)
    session.run([tf.global_variables_initializer(), tf.tables_initializer(), fill])
    return checkpoint, tables


def contents(session, tables):
    return [programs.content(session, table) for table in tables]


def test_the_file_is_that_of_1_15(session, tmp_path):
    checkpoint, _ = filled(session)
    path = checkpoint.save(f"{tmp_path}/model")
    ours, theirs = tf.train.load_checkpoint(path), tf.train.load_checkpoint(WRITTEN)
    assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
    assert ours.get_variable_to_dtype_map() == theirs.get_variable_to_dtype_map()
    graphs = [pb.TrackableObjectGraph.FromString(each.get_tensor(GRAPH)) for each in (ours, theirs)]
    assert graphs[0] == graphs[1]
    for key in theirs.get_variable_to_shape_map():
        if key != GRAPH:
            found, wanted = (np.sort(each.get_tensor(key).ravel()) for each in (ours, theirs))
            assert found.tolist() == wanted.tolist()


def test_a_file_of_1_15_is_restored(session):
    checkpoint, tables, _ = programs.objects(tf)
    session.run(tables[0].insert(["gone"], tf.constant([7], tf.int64)))
    checkpoint.restore(WRITTEN).assert_consumed().run_restore_ops()
    assert contents(session, tables) == FILLED


def test_a_table_comes_back_as_it_was(session, tmp_path):
    checkpoint, tables = filled(session)
    path = checkpoint.save(f"{tmp_path}/model")
    session.run(tables[0].insert(["more"], tf.constant([7], tf.int64)))
    session.run(tables[1].remove(tf.constant([1, 2], tf.int64)))
    status = checkpoint.restore(path).assert_consumed()
    status.run_restore_ops()
    assert contents(session, tables) == FILLED
    size = len(session.graph.get_operations())
    status.run_restore_ops()
    checkpoint.save(f"{tmp_path}/model")
    assert len(session.graph.get_operations()) == size  # nodes are made once


def words(name="words", key_dtype=tf.string):
    return tf.contrib.lookup.MutableHashTable(key_dtype, tf.int64, -1, name)


def test_a_table_alone_tells_its_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        table = words()
        fill = table.insert(["a"], tf.constant([1], tf.int64))
    with tf.Session(graph=graph) as session:
        session.run(fill)
        path = tf.train.Checkpoint(t=table).write(f"{tmp_path}/m", session)
        tf.train.Checkpoint(t=table).restore(path).initialize_or_restore(session)
        with graph.as_default():
            assert programs.content(session, table) == [([b"a"], [1])]


def test_a_table_that_is_not_in_the_file_is_told(session, tmp_path):
    first, second = words("T"), words("U")
    path = tf.train.Checkpoint(t=first).write(f"{tmp_path}/m")
    status = tf.train.Checkpoint(t=first, u=second).restore(path)
    with pytest.raises(AssertionError, match="were not bound to checkpointed values"):
        status.assert_existing_objects_matched()
    status.assert_nontrivial_match().run_restore_ops()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        pytest.param(lambda: words("U", tf.int64), tf.errors.InvalidArgumentError,
                     id="keys of another type"),
        pytest.param(lambda: tf.Variable(1.0), None, id="a variable: what the file has is not its"),
    ],
)  # fmt: skip
def test_a_table_is_restored_as_one_of_its_type_only(session, tmp_path, make, error):
    path = tf.train.Checkpoint(t=words("T")).write(f"{tmp_path}/m")
    status = tf.train.Checkpoint(t=make()).restore(path)
    if error is None:
        status.run_restore_ops()
    else:
        with pytest.raises(error, match="string"):
            status.run_restore_ops()


def test_a_file_of_a_saver_has_tables_by_their_names(session, tmp_path):
    table, v = words("T"), tf.Variable(1.0, name="v")
    session.run([table.insert(["a"], tf.constant([1], tf.int64)), v.initializer])
    path = tf.train.Saver().save(session, f"{tmp_path}/model")
    session.run(table.insert(["a", "b"], tf.constant([5, 6], tf.int64)))
    tf.train.Checkpoint(any_name=table, v=v).restore(path).assert_consumed().run_restore_ops()
    assert programs.content(session, table) == [([b"a"], [1])]
    with pytest.raises(AssertionError, match="Object not restored"):
        tf.train.Checkpoint(t=words("U")).restore(path).assert_existing_objects_matched()

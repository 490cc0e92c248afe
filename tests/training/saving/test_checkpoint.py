"""tf.train.Checkpoint writes the graph of objects that 1.15.5 writes, and reads what that wrote.

`checkpoint_programs.py` has the objects; `object_checkpoint_1_15` is what 1.15.5 wrote of them.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.saving import checkpoint_programs as programs
from tfdist.protos import pb

WRITTEN = str(Path(__file__).with_name("object_checkpoint_1_15") / "model-1")
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def trained(session):
    checkpoint, train = programs.objects(tf)
    session.run(tf.global_variables_initializer())
    for each in train:
        session.run(each)
    return checkpoint


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def test_the_file_is_that_of_1_15(session, tmp_path):
    path = trained(session).save(f"{tmp_path}/model")
    ours, theirs = tf.train.load_checkpoint(path), tf.train.load_checkpoint(WRITTEN)
    assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
    graphs = [pb.TrackableObjectGraph.FromString(each.get_tensor(GRAPH)) for each in (ours, theirs)]
    assert graphs[0] == graphs[1]
    for key in theirs.get_variable_to_shape_map():
        if key != GRAPH and "cell" not in key:
            np.testing.assert_allclose(ours.get_tensor(key), theirs.get_tensor(key), 1e-5)


def test_a_file_of_1_15_is_restored_by_objects_and_by_names(session):
    checkpoint = trained(session)
    wanted = programs.values(tf, session)
    session.run(tf.global_variables_initializer())
    status = checkpoint.restore(WRITTEN).assert_consumed()
    status.run_restore_ops()
    found = programs.values(tf, session)
    assert found.pop("save_counter") == 1
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], 1e-5)
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver(tf.trainable_variables())
    saver.restore(session, WRITTEN)
    np.testing.assert_allclose(programs.values(tf, session)["v"], wanted["v"], 1e-5)


def test_what_is_made_after_restore_is_restored_too(session, tmp_path):
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v, l=tf.train.Checkpoint(w=v)).write(
        f"{tmp_path}/m", initialized(session)
    )
    later = tf.train.Checkpoint()
    status = later.restore(path)
    later.v = tf.Variable([0.0, 0.0])
    status.initialize_or_restore()
    assert session.run(later.v).tolist() == [1.0, 2.0]


def initialized(session):
    session.run(tf.global_variables_initializer())
    return session


@pytest.mark.parametrize(
    ("method", "error"),
    [
        pytest.param("assert_consumed", AssertionError, id="the program has more than the file"),
        pytest.param("assert_existing_objects_matched", AssertionError, id="so it says"),
        pytest.param("assert_nontrivial_match", None, id="something is there at least"),
        pytest.param("expect_partial", None, id="and that is fine"),
    ],
)
def test_what_is_not_in_the_file_is_told(session, tmp_path, method, error):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    path = tf.train.Checkpoint(v=v).write(f"{tmp_path}/m", initialized(session))
    status = tf.train.Checkpoint(v=v, w=w).restore(path)
    if error is None:
        assert getattr(status, method)() is status
    else:
        with pytest.raises(error, match="were not bound to checkpointed values"):
            getattr(status, method)()


def test_what_only_the_file_has_is_told(session, tmp_path):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    path = tf.train.Checkpoint(v=v, w=w).write(f"{tmp_path}/m", initialized(session))
    status = tf.train.Checkpoint(v=v).restore(path).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.w"):
        status.assert_consumed()


def test_without_a_file_variables_are_initialized(session):
    v = tf.Variable(1.0)
    status = tf.train.Checkpoint(v=v).restore(None)
    status.initialize_or_restore()
    assert session.run(v) == 1.0
    with pytest.raises(AssertionError, match="nothing is being restored"):
        status.assert_consumed()


def test_a_file_of_a_saver_is_restored_by_names(session, tmp_path):
    v = tf.Variable(1.0, name="v")
    path = tf.train.Saver().save(initialized(session), f"{tmp_path}/model")
    session.run(v.assign(5.0))
    tf.train.Checkpoint(any_name=v).restore(path).assert_consumed().run_restore_ops()
    assert session.run(v) == 1.0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        pytest.param(lambda: tf.train.Checkpoint(v=3), ValueError, "expecting a trackable object",
                     id="a number has nothing to keep"),
        pytest.param(lambda: tf.train.Checkpoint().restore("/nowhere/model"),
                     tf.errors.NotFoundError, "nowhere", id="no such file"),
        pytest.param(lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), "d", 0), ValueError,
                     "positive integer", id="nothing would be kept"),
        pytest.param(lambda: odd().write("m", tf.Session()), ValueError, "non-string key",
                     id="a key that is no name"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(session, make, error, words):
    with pytest.raises(error, match=words):
        make()


def odd():
    checkpoint = tf.train.Checkpoint()
    checkpoint.d = {3: tf.Variable(1.0)}
    return checkpoint


def test_a_manager_keeps_the_newest_and_goes_on_with_them(session, tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    initialized(session)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert (manager.latest_checkpoint, manager.checkpoints) == (None, [])
    paths = [manager.save() for _ in range(3)] + [manager.save(checkpoint_number=10)]
    assert [os.path.basename(path) for path in paths] == ["ckpt-1", "ckpt-2", "ckpt-3", "ckpt-10"]
    again = tf.train.CheckpointManager(checkpoint, str(tmp_path), 1, checkpoint_name="z")
    assert (again.checkpoints, again.latest_checkpoint) == (paths[2:], paths[3])
    assert os.path.basename(again.save()) == "z-5"
    assert {each.split(".")[0] for each in os.listdir(tmp_path)} == {"checkpoint", "z-5"}
    assert tf.train.latest_checkpoint(str(tmp_path)) == again.latest_checkpoint

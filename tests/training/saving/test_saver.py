"""Savers: their nodes and what they keep are those of TensorFlow 1.15.5 (`saver_programs.py`)."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.saving import saver_programs
from tfdist.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from tfdist.training.saving.saver_builder import BaseSaverBuilder

EXPECTED = Path(__file__).with_name("expected_savers_1_15.json")
STORED = Path(__file__).parents[2] / "formats" / "checkpoint" / "written_by_1_15"
PROGRAMS = saver_programs.programs(tf, BaseSaverBuilder)


@cache
def expected():
    return json.loads(EXPECTED.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_are_those_of_tensorflow(name):
    assert saver_programs.graph(tf, PROGRAMS[name]) == expected()["graphs"][name]


def test_what_is_kept_is_what_tensorflow_keeps(tmp_path):
    assert saver_programs.kept(tf, str(tmp_path)) == expected()["kept"]


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def initialized(session):
    session.run(tf.global_variables_initializer())


@pytest.mark.parametrize("name", sorted({*PROGRAMS} - {name for name in PROGRAMS if "dev" in name}))
def test_what_was_saved_is_restored(session, tmp_path, name):
    saver = PROGRAMS[name]()
    initialized(session)
    before = session.run(tf.global_variables())
    path = saver.save(session, str(tmp_path / "m"))
    with tf.Session() as other:
        saver.restore(other, path)
        for value, again in zip(before, other.run(tf.global_variables()), strict=True):
            np.testing.assert_array_equal(value, again)


def test_who_does_not_find_the_files_is_named(session, tmp_path):
    """As when the task that holds the variables runs on another machine."""
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    initialized(session)
    path = saver.save(session, str(tmp_path / "m"))
    (tmp_path / "m.data-00000-of-00001").unlink()
    with pytest.raises(NotFoundError, match=r"localhost/.* does not find all") as raised:
        saver.restore(session, path)
    assert raised.value.op.type == "RestoreV2"


@pytest.mark.parametrize("inproc", [True, False])
def test_each_task_saves_what_it_holds(tmp_path, inproc):
    with (
        tf.train.Server({"own": ["localhost:0"]}, inproc=inproc) as first,
        tf.train.Server({"own": ["localhost:0"]}, inproc=inproc) as second,
    ):
        spec = tf.train.ClusterSpec({"a": [first.address], "b": [second.address]})
        with tf.device("/job:a"):
            tf.Variable([1.0, 2.0], name="v")
        with tf.device("/job:b"):
            tf.Variable([3], name="w", use_resource=True)
        saver = tf.train.Saver(sharded=True)
        config = tf.ConfigProto(cluster_def=spec.as_cluster_def())
        with tf.Session(first.target, config=config) as session:
            initialized(session)
            path = saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
            session.run([v.assign(v * 0) for v in tf.global_variables()])
            saver.restore(session, path)
            v, w = session.run(tf.global_variables())
            assert (v.tolist(), w.tolist()) == ([1.0, 2.0], [3])
    names = ["checkpoint", "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"]
    assert sorted(os.listdir(tmp_path)) == names


def test_a_graph_comes_back_with_its_saver(session, tmp_path):
    saver_programs.partitioned(tf)
    saver = tf.train.Saver(max_to_keep=3)
    initialized(session)
    before = session.run("p/x/part_1:0")
    path = saver.save(session, str(tmp_path / "m"), global_step=2)
    for scope in (None, "in"):
        with tf.Graph().as_default(), tf.Session() as other:
            again = tf.train.import_meta_graph(f"{path}.meta", import_scope=scope)
            again.restore(other, path)
            prefix = f"{scope}/" if scope else ""
            np.testing.assert_array_equal(other.run(f"{prefix}p/x/part_1:0"), before)
            assert again.as_saver_def().max_to_keep == 3
            assert again.save(other, str(tmp_path / "again"), write_meta_graph=False)
    assert dict(tf.train.list_variables(str(tmp_path / "again"))) == {"p/r": [5], "p/x": [5, 2]}


def other_shape(session, path):
    tf.Variable([1.0, 2.0, 3.0], name="v")
    tf.train.Saver().restore(session, path)


def other_type(session, path):
    tf.Variable([1, 2], name="v")
    tf.train.Saver().restore(session, path)


def other_name(session, path):
    tf.Variable([1.0, 2.0], name="vv")
    tf.Variable([1.0, 2.0], name="x")
    tf.train.Saver().restore(session, path)


def no_such_checkpoint(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver().restore(session, path + "x")


def no_name(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver().restore(session, None)


def a_damaged_one(session, path):
    tf.Variable([1.0, 2.0], name="v")
    Path(f"{path}.data-00000-of-00001").write_bytes(b"1234")
    tf.train.Saver().restore(session, path)


def not_initialized(session, path):
    tf.Variable([1.0, 2.0], name="v")
    tf.train.Saver().save(session, path)


def no_folder(session, path):
    tf.Variable(1.0, name="v")
    initialized(session)
    tf.train.Saver().save(session, path + "/none/none/m")


def no_session(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver().save(None, path)


def a_folder_for_a_name(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver().save(session, path + "/")


def the_name_of_the_state(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver().save(session, str(Path(path).with_name("checkpoint")))


def not_built(session, path):
    tf.Variable(1.0, name="v")
    tf.train.Saver(defer_build=True).save(session, path)


MISMATCH = r"(?s)a mismatch between the current graph and the graph from the checkpoint.*"
ERRORS = [
    (other_shape, InvalidArgumentError, MISMATCH + r"lhs shape= \[3\] rhs shape= \[2\].*'v'"),
    (other_type, InvalidArgumentError, MISMATCH + "= v; expected dtype int32 .* dtype float"),
    (
        other_name,
        NotFoundError,
        "(?s)missing from the checkpoint.*Key vv not found .*nor are x.* v ",
    ),
    (no_such_checkpoint, ValueError, "not a valid checkpoint: .*mx; the newest there is .*m$"),
    (no_name, ValueError, "when it is None"),
    (a_damaged_one, DataLossError, "m is damaged: tensor 'v': .* truncated.* it has 4"),
    (not_initialized, FailedPreconditionError, "uninitialized value v"),
    (no_folder, ValueError, "Parent directory of .*none/m doesn't exist, can't save"),
    (no_session, TypeError, "'sess' must be a Session; None"),
    (a_folder_for_a_name, ValueError, "no path specified"),
    (the_name_of_the_state, ValueError, "'latest_filename' collides with 'save_path'"),
    (not_built, RuntimeError, r"`build\(\)` should be called before save"),
]


@pytest.mark.parametrize(
    ("program", "error", "text"), [pytest.param(*row, id=row[0].__name__) for row in ERRORS]
)
def test_what_went_wrong_is_told(tmp_path, program, error, text):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([1.0, 2.0], name="v")
        initialized(session)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(error, match=text):
            program(session, path)


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        pytest.param(lambda v: [], ValueError, "No variables to save", id="nothing"),
        pytest.param(lambda v: [v, v], ValueError, "same name: v", id="a variable twice"),
        pytest.param(lambda v: {"a": v, "b": v}, ValueError, "two names: b", id="two names"),
        pytest.param(lambda v: v, TypeError, "in a dict or a list", id="a variable"),
        pytest.param(lambda v: [v + 1.0], TypeError, "not a Variable: .*add", id="a tensor"),
        pytest.param(lambda v: {"v": 3}, TypeError, "Not a variable", id="a number"),
        pytest.param(lambda v: {3: v}, TypeError, "not a string: 3", id="a name that is none"),
    ],
)
def test_what_cannot_be_saved(what, error, text):
    variable = tf.Variable(1.0, name="v")
    with pytest.raises(error, match=text):
        tf.train.Saver(what(variable))


def test_nothing_to_save_may_be_right(session, tmp_path):
    saver = tf.train.Saver(allow_empty=True)
    assert saver.save(session, str(tmp_path / "m")) is None
    saver.restore(session, "nowhere")
    assert os.listdir(tmp_path) == ["m.meta"]


def test_savers_as_messages():
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    told = saver.to_proto()
    assert tf.train.Saver.from_proto(told).to_proto() == told
    assert (
        tf.train.Saver.from_proto(told, "in").as_saver_def().restore_op_name
        == "in/save/restore_all"
    )
    assert saver.to_proto("save").save_tensor_name == "control_dependency:0"
    assert saver.to_proto("other") is None
    with pytest.raises(ValueError, match="must specify the save_tensor_name"):
        tf.train.Saver(saver_def=tf.train.SaverDef())


def test_what_another_process_saved_is_kept_on(session, tmp_path):
    tf.Variable(1.0, name="v")
    initialized(session)
    first, second = tf.train.Saver(max_to_keep=2), tf.train.Saver(max_to_keep=2)
    paths = [first.save(session, str(tmp_path / "m"), global_step=step) for step in (1, 2)]
    second.recover_last_checkpoints([*paths, str(tmp_path / "none")])
    assert second.last_checkpoints == paths
    newest = second.save(session, str(tmp_path / "m"), global_step=3)
    assert second.last_checkpoints == [paths[1], newest]
    assert not tf.train.checkpoint_exists(paths[0])
    second.set_last_checkpoints_with_time([("a", 1.0)])
    assert second.last_checkpoints == ["a"]


# without a graph


def test_checkpoints_are_looked_into():
    reader = tf.train.NewCheckpointReader(str(STORED / "slices"))
    assert reader.get_variable_to_shape_map() == {
        "rows": [6, 4],
        "columns": [6, 4],
        "far": [70000, 1],
    }
    assert reader.get_variable_to_dtype_map()["rows"] == tf.float32
    assert reader.has_tensor("rows")
    assert not reader.has_tensor("row")
    with pytest.raises(NotFoundError, match="Key row not found"):
        reader.get_tensor("row")
    assert tf.train.load_variable(str(STORED / "old"), "scalar") == 7
    old = tf.train.NewCheckpointReader(str(STORED / "old_sharded-?????-of-00002"))
    assert old.debug_string() == b"rows (DT_FLOAT) [6,4], 2 slices\n"
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.list_variables(str(STORED))


def test_a_folder_that_moves_keeps_its_newest(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "m.index").write_bytes(b"")
    tf.train.update_checkpoint_state(str(folder), "m", ["l", "m"])
    assert tf.train.latest_checkpoint(str(folder)) == str(folder / "m")
    folder.rename(tmp_path / "b")
    assert tf.train.latest_checkpoint(str(folder)) is None
    state = tf.train.get_checkpoint_state(str(tmp_path / "b"))
    assert list(state.all_model_checkpoint_paths) == [str(tmp_path / "b" / each) for each in "lm"]
    (tmp_path / "b" / "checkpoint").write_text("junk")
    assert tf.train.get_checkpoint_state(str(tmp_path / "b")) is None
    with pytest.raises(ValueError, match="timestamps"):
        tf.train.generate_checkpoint_state_proto("a", "a/m", ["a/m"], [1.0, 2.0])


def test_new_checkpoints_come_one_by_one(tmp_path):
    (tmp_path / "m.index").write_bytes(b"")
    tf.train.update_checkpoint_state(str(tmp_path), "m")
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == [str(tmp_path / "m")]
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "a"), 0, 0, lambda: True)) == []


def q_scope(**options):
    with tf.variable_scope("q", **options):
        return tf.get_variable("rows", [6, 4]), tf.get_variable("columns", [6, 4])


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="reference variables"),
        pytest.param({"use_resource": True}, id="resource variables"),
        pytest.param({"partitioner": tf.fixed_size_partitioner(3)}, id="partitioned variables"),
    ],
)
@pytest.mark.parametrize(
    "assignment",
    [
        pytest.param(lambda rows: {"/": "q/"}, id="scopes"),
        pytest.param(lambda rows: {"rows": "q/rows", "columns": "q/columns"}, id="names"),
        pytest.param(lambda rows: {"rows": rows, "/": "q/"}, id="a variable"),
    ],
)
def test_variables_begin_with_what_a_checkpoint_says(session, options, assignment):
    rows, columns = q_scope(**options)
    tf.train.init_from_checkpoint(str(STORED / "slices"), assignment(rows))
    initialized(session)
    for variable in (rows, columns):
        value = (
            np.concatenate(session.run(list(variable)))
            if "part" in str(options)
            else session.run(variable)
        )
        np.testing.assert_array_equal(value, np.arange(24).reshape(6, 4) / 8)


@pytest.mark.parametrize(
    ("assignment", "text"),
    [
        pytest.param({"none": "q/rows"}, "Tensor none is not found in .* 'rows'", id="no tensor"),
        pytest.param({"none/": "q/"}, "none/columns .* is not found", id="no scope"),
        pytest.param({"rows": "q/none"}, "should map to scope only", id="no variable"),
        pytest.param({"far": "q/rows"}, r"q/rows:0 .*\[70000, 1\]", id="another shape"),
    ],
)
def test_what_a_checkpoint_does_not_say(assignment, text):
    q_scope()
    with pytest.raises(ValueError, match=text):
        tf.train.init_from_checkpoint(str(STORED / "slices"), assignment)


def test_names_of_contrib(session):
    rows, _ = q_scope()
    framework = tf.contrib.framework
    assign, feeds = framework.assign_from_checkpoint(str(STORED / "slices"), {"rows": rows})
    session.run(assign, feeds)
    assert session.run(rows)[5, 3] == 23 / 8
    again = framework.assign_from_checkpoint_fn(str(STORED / "slices"), {"columns": rows})
    again(session)
    missing = {"none": rows}
    assert framework.assign_from_checkpoint_fn(str(STORED / "slices"), missing, True) is None
    with pytest.raises(ValueError, match=r"missing variable \[none\]"):
        framework.assign_from_checkpoint(str(STORED / "slices"), missing)
    tf.train.warm_start(str(STORED / "slices"), "q/r", var_name_to_prev_var_name={"q/rows": "rows"})
    session.run(rows.initializer)

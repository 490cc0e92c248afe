"""What RunConfig makes of TF_CONFIG, of its arguments, and of replaced ones."""

import json

import pytest

import tfdist as tf

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "b:2"], "ps": ["p:1", "p:2"]}


def config_of(monkeypatch, job, index, cluster=None, **more):
    """Return the config of a task."""
    document = {"cluster": cluster or CLUSTER, "task": {"type": job, "index": index}, **more}
    monkeypatch.setenv("TF_CONFIG", json.dumps(document))
    return tf.estimator.RunConfig()


# Task -> target, number in the cluster, whether it is the chief, and what its sessions look at.
TASKS = {
    ("chief", 0): ("grpc://a:1", 0, True, ["/job:ps", "/job:chief"]),
    ("worker", 1): ("grpc://b:2", 2, False, ["/job:ps", "/job:worker/task:1"]),
    ("ps", 1): ("grpc://p:2", 4, False, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_knows_its_place(monkeypatch, task):
    config = config_of(monkeypatch, *task)
    filters = list(config.session_config.device_filters)
    found = (config.master, config.global_id_in_cluster, config.is_chief, filters)
    assert found == TASKS[task]
    assert (config.num_ps_replicas, config.num_worker_replicas) == (2, 3)


def test_an_evaluator_is_outside_the_cluster(monkeypatch):
    config = config_of(monkeypatch, "evaluator", 0)
    assert (config.master, config.is_chief, config.num_worker_replicas) == ("", False, 0)
    assert not config.cluster_spec


def test_without_a_cluster_the_process_is_chief():
    config = tf.estimator.RunConfig()
    assert (config.task_type, config.task_id, config.is_chief, config.master) == (
        "worker", 0, True, "",
    )  # fmt: skip


# What TF_CONFIG says -> how the error begins.
WRONG = {
    '{"cluster": {"worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}':
        'If "cluster" is set in TF_CONFIG, it must have one "chief" node.',
    '{"cluster": {"chief": ["a:1"]}}': 'If "cluster" is set in TF_CONFIG, task type must be set.',
    '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}}':
        'If "cluster" is set in TF_CONFIG, task index must be set.',
    '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 3}}':
        "3 is not a valid task_id for task_type chief",
    '{"cluster": {"chief": ["a:1", "a:2"]}, "task": {"type": "chief", "index": 0}}':
        'The "cluster" in TF_CONFIG must have only one "chief" node.',
    '{"task": {"type": "ps", "index": 0}}':
        'If "cluster" is not set in TF_CONFIG, task type must be WORKER.',
    "{": "TF_CONFIG is no JSON",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_contradiction_is_told(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        tf.estimator.RunConfig()
    assert str(caught.value).startswith(WRONG[text])


@pytest.mark.parametrize(
    "wrong",
    [
        {"tf_random_seed": 1.5},
        {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
        {"save_summary_steps": -1},
        {"session_config": 3},
        {"log_step_count_steps": 0},
        {"device_fn": lambda a, b: 1},
        {"model_dir": ""},
    ],
)
def test_a_value_that_makes_no_sense_is_told(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        tf.estimator.RunConfig(**wrong)


def test_replacing_one_interval_drops_the_other():
    config = tf.estimator.RunConfig(save_checkpoints_steps=5).replace(save_checkpoints_secs=7)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (None, 7)
    with pytest.raises(ValueError, match="Replacing task_id is not supported"):
        config.replace(task_id=1)


def test_variables_go_to_parameter_servers_in_turn(monkeypatch, tmp_path):
    config = config_of(monkeypatch, "worker", 1)
    made = tf.estimator.Estimator(lambda features: None, str(tmp_path), config)
    with tf.device(made._device_fn):
        devices = [tf.Variable(1.0).device, tf.Variable(1.0).device, tf.constant(1).device]
    assert devices == ["/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:1"]


def test_the_first_spelling_makes_worker_0_the_chief(monkeypatch):
    cluster = {"ps": ["a:1"], "worker": ["b:1", "b:2"]}
    config_text = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config_text))
    config = tf.contrib.learn.RunConfig()
    assert (config.is_chief, config.master, config.num_worker_replicas) == (True, "grpc://b:1", 2)

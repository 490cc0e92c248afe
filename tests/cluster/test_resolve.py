"""Where a server's role comes from: which place wins, and what is said when nothing is there."""

import json

import pytest

from tfdist.cluster.resolve import resolve_role
from tfdist.errors import InvalidArgumentError, NotFoundError

JOBS = {"ps": ["a:1"], "worker": ["b:1", "c:1"]}
PAIRS = "ps=a:1;worker=b:1,c:1"
OTHER = {"other": ["d:1"]}
CONFIG = {"cluster": JOBS, "task": {"type": "worker", "index": 1}}
FILES = {
    "spec.json": json.dumps(JOBS),
    "config.json": json.dumps(CONFIG),
    "broken.json": "{'ps'",
    "comma.json": '{"ps": ["a:1", "b:1",]}',
    "empty.json": "\n",
    "no port.json": '{"ps": ["a:1", "127.0.0.1"]}',
}


def read(path):
    if path == "picture.png":
        return b"\x89PNG".decode()
    if path not in FILES:
        raise FileNotFoundError(2, "No such file or directory", path)
    return FILES[path]


def resolve(cluster=None, job=None, task=None, **environment):
    return resolve_role(cluster, job, task, environment, read)


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param(json.dumps(JOBS), id="JSON text"),
        pytest.param("spec.json", id="the tutorials' file"),
        pytest.param("config.json", id="a file with a whole TF_CONFIG"),
        pytest.param(PAIRS, id="pairs"),
        pytest.param(" ps=a:1; worker=b:1, c:1; ", id="pairs with spaces"),
        pytest.param('{"ps": {"0": "a:1"}, "worker": ["b:1", "c:1"]}', id="indices as keys"),
    ],
)
def test_a_cluster_has_several_forms(cluster):
    role = resolve(cluster, "ps", 0)
    assert role.cluster.as_dict() == JOBS
    assert (role.job, role.task) == ("ps", 0)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        pytest.param(
            (None, None, None), {"TF_CONFIG": json.dumps(CONFIG)}, ("worker", 1), id="TF_CONFIG"
        ),
        pytest.param(
            (None, None, None),
            {"TFDIST_CLUSTER": PAIRS, "TFDIST_JOB": "worker", "TFDIST_TASK": "0"},
            ("worker", 0),
            id="variables of our own",
        ),
        pytest.param(
            (None, None, None),
            {"TF_CONFIG": json.dumps(CONFIG), "TFDIST_TASK": "0"},
            ("worker", 0),
            id="a variable beats TF_CONFIG",
        ),
        pytest.param(
            (PAIRS, "ps", "0"),
            {"TFDIST_JOB": "worker", "TFDIST_TASK": "1", "TF_CONFIG": json.dumps(CONFIG)},
            ("ps", 0),
            id="an argument beats both",
        ),
        pytest.param(("config.json", None, None), {}, ("worker", 1), id="the file has the task"),
        pytest.param(
            ("config.json", None, None), {"TFDIST_TASK": "0"}, ("worker", 0), id="one file for all"
        ),
        pytest.param(
            ("spec.json", None, None),
            {"TF_CONFIG": json.dumps({"task": {"type": "worker", "index": "1"}})},
            ("worker", 1),
            id="TF_CONFIG has the task only",
        ),
        pytest.param(("x=a:1", None, None), {}, ("x", 0), id="there is one task only"),
        pytest.param(("spec.json", "ps", None), {}, ("ps", 0), id="one task in the job"),
        pytest.param(
            (None, "worker", 1),
            {"TFDIST_CLUSTER": "", "TF_CONFIG": json.dumps(CONFIG)},
            ("worker", 1),
            id="an empty variable is none",
        ),
    ],
)
def test_the_first_place_that_says_it_wins(arguments, environment, expected):
    role = resolve(*arguments, **environment)
    assert (role.job, role.task) == expected


def test_a_cluster_by_argument_hides_that_of_the_environment():
    environment = {"TFDIST_CLUSTER": json.dumps(OTHER), "TF_CONFIG": json.dumps(CONFIG)}
    assert resolve(PAIRS, **environment).cluster.as_dict() == JOBS
    with pytest.raises(InvalidArgumentError, match="TF_CONFIG says job 'worker', but"):
        resolve(**environment)  # the cluster is the one of TFDIST_CLUSTER


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        ((), {}, "no cluster: looked for --cluster, TFDIST_CLUSTER and TF_CONFIG"),
        ((), {"TF_CONFIG": "{}"}, "no cluster: looked for"),
        ((PAIRS,), {}, "no job: looked for --job, TFDIST_JOB and the task's 'type' in TF_CONFIG"),
        ((PAIRS, "worker"), {}, r"no task: .*; job 'worker' has the tasks \[0, 1\]"),
    ],
)
def test_what_is_missing_is_named_with_where_it_was_looked_for(arguments, environment, message):
    with pytest.raises(NotFoundError, match=message):
        resolve(*arguments, **environment)


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        ((PAIRS, "chief"), {}, "--job says job 'chief', but the cluster has the jobs"),
        ((PAIRS,), {"TFDIST_JOB": "chief"}, "TFDIST_JOB says job 'chief'"),
        ((PAIRS, "ps", 3), {}, r"--task says task 3, but job 'ps' has the tasks \[0\]"),
        ((PAIRS, "ps"), {"TFDIST_TASK": "first"}, "TFDIST_TASK says task 'first'"),
        (("no.json",), {}, r"cannot read the file 'no.json' \(No such file.*ps=127.0.0.1:2222;"),
        (("broken.json",), {}, "the file broken.json is no JSON: .*; JSON has double quotes"),
        (("comma.json",), {}, "the file comma.json is no JSON: .*no comma after the last element"),
        (("empty.json",), {}, "the file empty.json is empty; wanted JSON such as"),
        (("picture.png",), {}, r"cannot read the file 'picture.png' \(it is no text\); wanted"),
        (("no port.json",), {}, "no port.json: the address of /job:ps/task:1 is HOST:PORT, got '1"),
        (("x=nosuchhost",), {}, "--cluster: the address of /job:x/task:0 .* got 'nosuchhost'"),
        (("x=a:65536",), {}, "got 'a:65536'"),
        (("127.0.0.1:1",), {}, "is an address without its job; .*: worker=127.0.0.1:1"),
        ((), {"TF_CONFIG": "[]"}, r"TF_CONFIG: wanted a JSON object, got \[\]"),
        ((), {"TF_CONFIG": '{"cluster": {"ps": "a:1"}}'}, 'TF_CONFIG, "cluster": the tasks of'),
        (('{"cluster": {"ps": ["a:1"]}, "task": 3}',), {}, '"task" is .*, got 3'),
        (('{"ps": {"zero": "a:1"}}',), {}, "--cluster: a task's index is a number, not 'zero'"),
        (('{"ps": [1]}',), {}, "must be a string such as 'host:2222', got 1"),
        (("{}",), {}, "the cluster has no task"),
        (("ps=a:1;ps=b:1",), {}, "'ps=b:1' is not JOB=HOST:PORT,HOST:PORT of a job not named"),
        (("ps=a:1,",), {}, "'ps=a:1,' is not JOB="),
    ],
)
def test_what_makes_no_sense_is_named_with_where_it_stands(arguments, environment, message):
    with pytest.raises(InvalidArgumentError, match=message):
        resolve(*arguments, **environment)


# What Kubeflow's operator writes to TF_CONFIG, for a TFJob `train` in the namespace `default`.
def pod_address(kind, index):
    return f"train-{kind}-{index}.default.svc:2222"


CHIEF = {"chief": [pod_address("chief", 0)]}
SERVERS = [pod_address("ps", 0), pod_address("ps", 1)]
TASKS = {**CHIEF, "ps": SERVERS, "worker": [pod_address("worker", 0)]}
WITH_EVALUATOR = {"evaluator": ["e:1"], "worker": ["w:1"]}


def operator_says(kind, index, **cluster):
    task = {"type": kind, "index": index}
    return json.dumps({**cluster, "task": task, "environment": "cloud"})


@pytest.mark.parametrize(
    ("config", "host", "job", "tasks"),
    [
        pytest.param(
            operator_says("chief", 0, cluster=TASKS), "train-chief-0", ("chief", 0), TASKS,
            id="a chief is a job as any other",
        ),
        pytest.param(
            operator_says("evaluator", 0, cluster=TASKS), "train-evaluator-0", ("evaluator", 0),
            {**TASKS, "evaluator": [pod_address("evaluator", 0)]},
            id="an evaluator that is left out is a job beside the cluster",
        ),
        pytest.param(
            operator_says("evaluator", 1, cluster=TASKS), "train-evaluator-1", ("evaluator", 1),
            {**TASKS, "evaluator": {1: pod_address("evaluator", 1)}},
            id="the second of two evaluators",
        ),
        pytest.param(
            operator_says("evaluator", 0, cluster={"worker": ["10.0.0.1:2222"]}), "here",
            ("evaluator", 0), {"evaluator": ["here:2222"], "worker": ["10.0.0.1:2222"]},
            id="numbers have no domain",
        ),
        pytest.param(
            operator_says("evaluator", 0, cluster=WITH_EVALUATOR), "here", ("evaluator", 0),
            WITH_EVALUATOR,
            id="an evaluator that the cluster has",
        ),
        pytest.param(
            operator_says("worker", 3, sparseCluster={
                "worker": {"3": pod_address("worker", 3)}, "ps": TASKS["ps"]}),
            "", ("worker", 3), {"ps": TASKS["ps"], "worker": {3: pod_address("worker", 3)}},
            id="one of a changing number of workers",
        ),
        pytest.param(
            operator_says("ps", 1, sparseCluster={"worker": {}, "ps": [pod_address("ps", 1)]}),
            "", ("ps", 1), {"ps": {1: pod_address("ps", 1)}},
            id="a parameter server of a changing number of workers is told as if it were the first",
        ),
    ],
)  # fmt: skip
def test_a_task_of_a_tfjob_knows_its_role(config, host, job, tasks):
    role = resolve(TF_CONFIG=config, HOSTNAME=host)
    assert (role.job, role.task) == job
    assert role.cluster.as_dict() == tasks


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, r"its address is the host in HOSTNAME \(not set\) and the port that all"),
        ({"HOSTNAME": "h", "TFDIST_CLUSTER": "ps=a:1;worker=b:2"}, r"\['1', '2'\]"),
    ],
)
def test_an_evaluator_without_an_address_is_told_what_is_missing(environment, said):
    with pytest.raises(InvalidArgumentError, match=said):
        resolve(TF_CONFIG=operator_says("evaluator", 0, cluster=TASKS), **environment)

"""Devices of a task: which ones the options give, and sessions on simulated GPUs."""

import random

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError, ResourceExhaustedError
from tfdist.launch.start import start_cluster
from tfdist.plots.text import placement_text, step_table_text
from tfdist.protos import pb
from tfdist.runtime.devices.gpus import SIMULATED_MEMORY, task_devices
from tfdist.runtime.devices.local_devices import device_options
from tfdist.session.device_lib import list_local_devices
from tfdist.tracing.steps.node_row import TRANSFER
from tfdist.tracing.steps.rows import rows

SIMULATED = tf.GPUOptions(allocator_type="simulated")
FULL_TRACE = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)


def names_of(devices):
    """Return the devices as "cpu0 gpu0"."""
    return " ".join(each.name.rpartition("device:")[2].lower().replace(":", "") for each in devices)


@pytest.mark.parametrize(
    ("config", "environment", "expected"),
    [
        pytest.param({}, {}, "cpu0", id="without options there is one CPU"),
        pytest.param({"device_count": {"CPU": 3}}, {}, "cpu0 cpu1 cpu2", id="CPUs are counted"),
        pytest.param(
            {"device_count": {"GPU": 2}}, {}, "cpu0",
            id="a number of GPUs alone makes none, as in TensorFlow without a card",
        ),
        pytest.param(
            {"device_count": {"GPU": 2}, "gpu_options": SIMULATED}, {}, "cpu0 gpu0 gpu1",
            id="the allocator's name asks for simulated ones",
        ),
        pytest.param({}, {"TFDIST_SIMULATED_GPUS": "1"}, "cpu0 gpu0", id="so can a process"),
        pytest.param(
            {"device_count": {"GPU": 1}}, {"TFDIST_SIMULATED_GPUS": "2"}, "cpu0 gpu0",
            id="of those that there are, a session takes the first",
        ),
        pytest.param(
            {"device_count": {"GPU": 0}}, {"TFDIST_SIMULATED_GPUS": "2"}, "cpu0",
            id="or none, if it is told so",
        ),
        pytest.param(
            {"gpu_options": {"visible_device_list": "1"}}, {"TFDIST_SIMULATED_GPUS": "2"},
            "cpu0 gpu0", id="a GPU that is visible alone is the first one",
        ),
    ],
)  # fmt: skip
def test_which_devices_a_task_has(config, environment, expected):
    options = device_options(pb.ConfigProto(**config), environment)
    assert names_of(task_devices("a", 0, options)) == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [
        pytest.param({"visible_device_list": "2"}, "from 0 to 1", id="one that is not there"),
        pytest.param({"visible_device_list": "1,1"}, "different numbers", id="one twice"),
        pytest.param({"visible_device_list": "x"}, "'x'", id="no number"),
        pytest.param({"per_process_gpu_memory_fraction": 2}, "from 0 to 1", id="too much memory"),
    ],
)
def test_device_options_that_make_no_sense(options, text):
    config = pb.ConfigProto(gpu_options=options)
    with pytest.raises(InvalidArgumentError, match=text):
        task_devices("a", 0, device_options(config, {"TFDIST_SIMULATED_GPUS": "2"}))


def test_the_environment_says_a_number():
    with pytest.raises(InvalidArgumentError, match="TFDIST_SIMULATED_GPUS='two'"):
        device_options(None, {"TFDIST_SIMULATED_GPUS": "two"})


def test_visible_gpus_are_numbered_anew_and_keep_their_cards():
    options = pb.GPUOptions(visible_device_list="1,0", per_process_gpu_memory_fraction=0.25)
    options = device_options(pb.ConfigProto(gpu_options=options), {"TFDIST_SIMULATED_GPUS": "2"})
    _, first, second = task_devices("a", 0, options)
    assert (first.card, second.card) == (1, 0)
    assert first.memory_limit == SIMULATED_MEMORY // 4
    assert "simulated" in first.physical_device_desc
    assert "simulated" in repr(first)


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setenv("TFDIST_SIMULATED_GPUS", "2")


def crossing():
    """Build p -> b, m -> b -> c with m and c on GPUs; return p, m and c."""
    with tf.device("/gpu:0"):
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="a")
        m = tf.matmul(a, a, name="m")
    p = tf.placeholder(tf.float32, [2, 2], name="p")
    with tf.device("/cpu:0"):
        b = tf.add(m, p, name="b")
    with tf.device("/device:GPU:1"):
        c = tf.reduce_sum(b, name="c")
    return p, m, c


@pytest.fixture(params=["local", "cluster", "rpc"])
def session(request, two_gpus):
    """A session of a process, of a cluster in it, and of one behind real calls."""
    if request.param == "local":
        with tf.Session() as found:
            yield found
        return
    cluster = start_cluster({"worker": 1}).cluster
    try:
        if request.param == "rpc":
            request.getfixturevalue("monkeypatch").setenv("TFDIST_TRANSPORT", "grpc")
        with tf.Session(cluster.target("worker", 0)) as found:
            yield found
    finally:
        cluster.stop()


def test_a_step_crosses_between_cpu_and_gpus(session):
    p, m, c = crossing()
    for _ in range(3):  # interpreted, compiled, from the plan that is kept
        found = session.run([m, c, p], {p: np.ones((2, 2))})
        assert found[0].tolist() == [[7, 10], [15, 22]]
        assert found[1] == 58


def test_a_trace_shows_the_copies(session):
    p, m, c = crossing()
    metadata = tf.RunMetadata()
    session.run([c, m], {p: np.ones((2, 2))}, FULL_TRACE, metadata)
    copies = sorted(
        (row.name, row.op, row.source[-5:], row.device[-5:])
        for row in rows(metadata.step_stats)
        if row.kind == TRANSFER
    )
    assert copies == [
        ("b", "MEMCPYHtoD", "CPU:0", "GPU:1"),
        ("c", "MEMCPYDtoH", "GPU:1", "CPU:0"),
        ("m", "MEMCPYDtoH", "GPU:0", "CPU:0"),  # once, for b and for the fetch
    ]
    assert "gpu:1 (simulated)" in step_table_text(rows(metadata.step_stats))


def test_partition_graphs_are_cut_at_devices(session):
    p, _, c = crossing()
    metadata = tf.RunMetadata()
    session.run(c, {p: np.ones((2, 2))}, FULL_TRACE, metadata)
    ops = {
        graph.node[0].device[-5:]: sorted(node.op for node in graph.node)
        for graph in metadata.partition_graphs
    }
    assert ops == {
        "GPU:0": ["Const", "MatMul", "_Send"],
        "CPU:0": ["Add", "_Recv", "_Recv", "_Send"],
        "GPU:1": ["Const", "Sum", "_Recv", "_Send"],
    }


def test_branches_and_loops_cross_too(session):
    p, _, c = crossing()
    with tf.device("/gpu:0"):
        x = tf.constant(2.0)

    def far():
        with tf.device("/cpu:0"):
            return x * 10.0

    chosen = tf.cond(c > 50.0, far, lambda: x)

    def body(i, y):
        with tf.device("/cpu:0"):
            z = y + 1.0
        with tf.device("/gpu:1"):
            return i + 1, z * 2.0

    _, y = tf.while_loop(lambda i, _: i < 3, body, (0, chosen))
    for ones, expected in ((1, 174.0), (-9, 30.0), (1, 174.0)):
        assert session.run(y, {p: np.full((2, 2), ones)}) == expected


def test_variables_live_on_the_gpu_and_train(session):
    with tf.device("/gpu:0"):
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul([[1.0, 1.0]], w) - 1.0))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    session.run(tf.global_variables_initializer())
    for _ in range(15):
        session.run(train)
    assert session.run([loss, step]) == [pytest.approx(0, abs=1e-3), 15]


def test_simulated_is_said_wherever_a_gpu_shows(session):
    _, _, c = crossing()
    gpus = [device for device in session.list_devices() if device.device_type == "GPU"]
    assert all("simulated" in device.physical_device_desc for device in gpus)
    assert "simulated" in repr(gpus)
    assert gpus[0].name.endswith("/device:GPU:0")  # TensorFlow's name, which programs look for
    assert "/gpu:1 (simulated)" in placement_text(session.placement(c))


def test_the_placement_log_says_it(two_gpus, capfd):
    with tf.device("/gpu:1"):
        x = tf.constant(1.0, name="x")
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as session:
        session.run(x)
    assert "/task:0/device:GPU:1 (simulated)" in capfd.readouterr().err


def test_unpinned_nodes_prefer_gpus_that_have_kernels(session):
    with tf.variable_scope("v"):
        steps = tf.get_variable("steps", initializer=0)
    text = tf.string_join(["n = ", tf.as_string(tf.add(1.0, 0.0, name="one"))], name="text")
    session.run(steps.initializer)
    assert session.run(text) == b"n = 1.000000"
    told = {node.name: (node.device[-5:], node.reason) for node in session.placement()}
    assert told["one"] == ("GPU:0", "first device of the cluster")
    assert told["v/steps"] == (
        "CPU:0", "first CPU of the cluster: VariableV2 has no GPU kernel for int32",
    )  # fmt: skip
    assert told["text"] == ("CPU:0", "first CPU of the cluster: StringJoin has no GPU kernel")


PINNED = [
    pytest.param(
        "/gpu:0", lambda: tf.string_join(["a"], name="n"), ["no supported kernel for GPU devices"],
        id="an op that has no kernel for GPUs",
    ),
    pytest.param(
        "/gpu:0", lambda: tf.Variable(1, name="n").initializer,
        ["VariableV2 has no GPU kernel for int32", "device='GPU'; dtype in [DT_FLOAT]"],
        id="nor for a type: the kernels that exist are named",
    ),
    pytest.param(
        "/gpu:0", lambda: tf.FIFOQueue(1, tf.float32, name="n").size(), ["Registered kernels:"],
        id="a queue",
    ),
    pytest.param(
        "/gpu:7", lambda: tf.constant(1.0, name="n"),
        ["explicitly assigned to /device:GPU:7 but available devices are [ /job", "GPU:1, /job"],
        id="a GPU that is not there: those that are there are named",
    ),
    pytest.param(
        "/cpu:1", lambda: tf.constant(1.0, name="n"), ["explicitly assigned to /device:CPU:1"],
        id="a CPU that is not there",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("device", "build", "texts"), PINNED)
def test_a_pin_that_cannot_be_met(two_gpus, device, build, texts):
    with tf.device(device):
        fetch = build()
    with tf.Session() as session, pytest.raises(InvalidArgumentError) as raised:
        session.run(fetch)
    assert raised.value.message.startswith("Cannot assign a device for operation n")
    assert "allow_soft_placement=True" in raised.value.message
    for text in texts:
        assert text in raised.value.message


@pytest.mark.parametrize(("device", "build", "texts"), PINNED)
def test_soft_placement_says_what_it_did(two_gpus, device, build, texts):
    with tf.device(device):
        fetch = build()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(fetch)
        reasons = {node.reason for node in session.placement(fetch)}
    assert any(
        "was asked for, but" in reason and "(soft placement)" in reason for reason in reasons
    )


def test_a_tensor_that_the_memory_cannot_hold(two_gpus):
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.001))
    x = tf.placeholder(tf.float32, [600, 1], name="x")
    y = tf.placeholder(tf.float32, [1, 1000], name="y")
    with tf.device("/gpu:0"):
        large = tf.add(x, y, name="z")
    with tf.Session(config=config) as session:
        for _ in range(2):  # interpreted, then compiled
            with pytest.raises(ResourceExhaustedError) as raised:
                session.run(large, {x: np.ones((600, 1)), y: np.ones((1, 1000))})
    assert "OOM when allocating tensor with shape[600,1000] and type float" in raised.value.message
    assert "/device:GPU:0 by allocator GPU_0_bfc" in raised.value.message
    assert raised.value.node_name == "z"


def test_options_of_old_programs_are_accepted():
    config = tf.ConfigProto(
        intra_op_parallelism_threads=2,
        inter_op_parallelism_threads=1,
        use_per_session_threads=True,
        gpu_options=tf.GPUOptions(allow_growth=True, allocator_type="BFC"),
        graph_options=tf.GraphOptions(
            optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
        ),
    )
    with tf.Session(config=config) as session:
        assert session.run(tf.constant(1.0)) == 1
        assert names_of(session.list_devices()) == "cpu0"


def test_programs_ask_for_gpus(two_gpus):
    assert tf.test.is_gpu_available()
    assert not tf.test.is_gpu_available(cuda_only=True)
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert [each.name for each in list_local_devices()] == [
        "/device:CPU:0", "/device:GPU:0", "/device:GPU:1",
    ]  # fmt: skip


def test_tasks_of_other_processes_have_simulated_gpus():
    cluster = start_cluster({"worker": 1}, name="gpus", processes=True, gpus=1).cluster
    try:
        assert cluster.status()[0].devices == ("cpu:0", "gpu:0 (simulated)")
        with tf.device("/cpu:0"):
            v = tf.constant([3.0, 4.0], name="v")
        with tf.device("/gpu:0"):
            n = tf.square(v, name="n")
        metadata = tf.RunMetadata()
        with tf.Session(cluster.target("worker", 0)) as session:
            assert session.run(n, None, FULL_TRACE, metadata).tolist() == [9, 16]
            assert "simulated" in repr(session.list_devices()[1])
        routes = {
            (row.name, row.op, row.source[-5:], row.device[-5:])
            for row in rows(metadata.step_stats)
            if row.kind == TRANSFER
        }
        assert routes == {
            ("v", "MEMCPYHtoD", "CPU:0", "GPU:0"), ("n", "MEMCPYDtoH", "GPU:0", "CPU:0"),
        }  # fmt: skip
    finally:
        cluster.stop()


def test_a_session_draws_nothing_from_the_seeded_generators_of_a_program():
    random.seed(3)
    before = random.getstate()
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.random_normal([2]))
    cluster = start_cluster({"ps": 1, "worker": 1}).cluster
    try:
        with tf.Graph().as_default(), tf.Session(cluster.target("worker", 0)) as session:
            session.run(tf.constant(1.0))
    finally:
        cluster.stop()
    assert random.getstate() == before


def test_two_lives_with_one_seed_are_told_apart():
    lives = []
    for _ in range(2):
        random.seed(3)
        (device,) = task_devices("worker", 0, device_options(None))
        lives.append(device.incarnation)
    assert lives[0] != lives[1]

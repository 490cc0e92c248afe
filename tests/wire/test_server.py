"""Server: made, started, waited for, stopped; what sessions on it share."""

import gc
import socket
import time

import pytest

import tfdist as tf
from tests.ports import free_port
from tests.runtime.blocking import Call
from tfdist.wire.server import bind, start_servers

Server = tf.train.Server


def answers(target):
    """Return whether a session can run on a server."""
    with tf.Graph().as_default():
        x = tf.constant(1)
        try:
            with tf.Session(target) as session:
                return session.run(x) == 1
        except tf.errors.UnavailableError:
            return False


@pytest.fixture
def soon_given_up(monkeypatch):
    """Let sessions wait a second for servers that are not there."""
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=1")


def test_a_local_server_says_hello():
    hello = tf.constant("hello")
    with Server.create_local_server() as server, tf.Session(server.target) as session:
        assert session.run(hello) == b"hello"


def test_what_a_server_says_of_itself():
    with Server({"ps": ["localhost:0"], "worker": ["localhost:0"]}, "ps", 0) as server:
        port = int(server.target.rpartition(":")[2])
        assert server.target == f"grpc://localhost:{port}" == f"grpc://{server.address}"
        assert port > 0
        assert server.task_name == "/job:ps/task:0"
        assert repr(server) == f"<tf.train.Server /job:ps/task:0 running at {server.target}>"
        assert server.is_running
    assert "stopped" in repr(server)
    assert not server.is_running


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([{"a": ["localhost:0"]}], ("a", 0), id="one job of one task: both left out"),
        pytest.param([{"a": {37: "localhost:0"}}], ("a", 37), id="a sparse job of one task"),
        pytest.param([{"a": {37: "localhost:0", 2: "x:1"}}, "a", 37], ("a", 37), id="a sparse job"),
        pytest.param([{"a": ["localhost:0", "x:1"]}, None, 0], ("a", 0), id="the job left out"),
        pytest.param([{"a": ["localhost:0"], "b": ["x:1"]}, "a"], ("a", 0), id="the task left out"),
        pytest.param(
            [tf.train.ClusterSpec({"a": ["localhost:0"]}), "a", 0], ("a", 0), id="a ClusterSpec"
        ),
        pytest.param(
            [tf.train.ClusterSpec({"a": ["localhost:0"]}).as_cluster_def()], ("a", 0),
            id="a ClusterDef",
        ),
    ],
)  # fmt: skip
def test_which_task_a_server_is(arguments, expected):
    with Server(*arguments) as server:
        definition = server.server_def
        assert (definition.job_name, definition.task_index) == expected
        assert definition.protocol == "grpc"


@pytest.mark.usefixtures("soon_given_up")
def test_a_server_can_be_made_of_its_definition():
    cluster = tf.train.ClusterSpec({"a": ["localhost:0"], "b": ["x:1"]}).as_cluster_def()
    definition = tf.train.ServerDef(cluster=cluster, job_name="a", task_index=0)
    with Server(definition) as server:
        assert server.task_name == "/job:a/task:0"
        assert answers(server.target) is False  # task /job:b is not there
    assert definition.protocol == "", "what was given is not changed"


REFUSED = [
    pytest.param([{"a": ["h:0"], "b": ["h:0"]}], ValueError, r"job_name.*'a', 'b'", id="no job"),
    pytest.param([{"a": ["h:0", "h:0"]}], ValueError, r"task_index.*\[0, 1\]", id="no task"),
    pytest.param(
        [{"a": ["h:0"]}, "b", 0], tf.errors.InvalidArgumentError, r"'b' is not.*\['a'\]",
        id="a job that is not in the cluster",
    ),
    pytest.param(
        [{"a": ["h:0"]}, "a", 5], tf.errors.InvalidArgumentError, r"5 is not.*\[0\]",
        id="a task that is not in the job",
    ),
    pytest.param(
        [{"a": ["localhost"]}], tf.errors.InvalidArgumentError, "HOST:PORT", id="no port"
    ),
    pytest.param(
        [{"a": ["localhost:99999"]}], tf.errors.InvalidArgumentError, "HOST:PORT", id="no such port"
    ),
    pytest.param(
        [{"a": ["h:0"]}, "a", 0, "http"], tf.errors.NotFoundError, "http", id="another protocol"
    ),
    pytest.param([3], TypeError, "3", id="no cluster"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "text"), REFUSED)
def test_what_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        Server(*arguments)


def test_a_port_that_is_taken_by_another_program():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        with pytest.raises(tf.errors.AlreadyExistsError, match=f"port {port} is taken"):
            Server({"a": [f"localhost:{port}"]})
    with Server({"a": [f"localhost:{port}"]}) as server:
        assert answers(server.target)


def test_a_port_that_is_taken_by_another_server():
    with Server.create_local_server() as server:
        port = server.address.rpartition(":")[2]
        with pytest.raises(tf.errors.AlreadyExistsError, match=r"which stop\(\) ends"):
            Server({"a": [f"localhost:{port}"]})
        assert answers(server.target)


def test_a_new_server_after_stop_on_the_same_port():
    address = f"localhost:{free_port()}"
    for value in (1.0, 2.0):
        with Server({"a": [address]}) as server, tf.Graph().as_default():
            v = tf.Variable(value, name="v")
            with tf.Session(server.target) as session:
                with pytest.raises(tf.errors.FailedPreconditionError):
                    session.run(v)  # a new server knows nothing
                session.run(v.initializer)
                assert session.run(v) == value


def test_old_sessions_do_not_follow_to_a_new_server():
    address = f"localhost:{free_port()}"
    x = tf.constant(1)
    with Server({"a": [address]}) as server:
        session = tf.Session(server.target)
        session.run(x)
    with Server({"a": [address]}):
        with pytest.raises(tf.errors.AbortedError, match="server was stopped"):
            session.run(x)
    session.close()


def test_one_new_task_beside_the_old_ones():
    """A worker finds a parameter server that was replaced, in a new session."""
    ports = [free_port(), free_port()]
    cluster = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    with tf.device("/job:ps"):
        v = tf.Variable(1.0, name="v")
    with Server(cluster, "worker", 0) as worker:
        for _ in range(2):
            with Server(cluster, "ps", 0), tf.Session(worker.target) as session:
                with pytest.raises(tf.errors.FailedPreconditionError):
                    session.run(v)
                session.run(v.initializer)
                assert session.run(v) == 1.0


@pytest.mark.usefixtures("soon_given_up")
def test_start_can_come_later():
    server = Server.create_local_server(start=False)
    assert not answers(server.target)
    assert not server.is_running
    server.start()
    server.start()
    assert answers(server.target)
    server.stop()
    server.stop()
    with pytest.raises(tf.errors.UnavailableError, match="was stopped; make a new one"):
        server.start()


def test_join_waits_until_stop():
    server = Server.create_local_server()
    assert server.join(timeout=0.01) is False
    call = Call(server.join)
    server.stop()
    assert call.result() is True
    assert server.join() is True


def test_stop_does_not_wait_for_grace_when_nothing_runs():
    server = Server.create_local_server()
    before = time.monotonic()
    server.stop(grace=30)
    assert time.monotonic() - before < 30


@pytest.mark.usefixtures("soon_given_up")
def test_an_error_inside_stops_the_server():
    with pytest.raises(KeyError), Server.create_local_server() as server:
        raise KeyError
    assert not server.is_running
    assert not answers(server.target)


@pytest.mark.usefixtures("soon_given_up")
def test_a_running_server_lives_without_a_name():
    """As in TensorFlow: programs rebind the name in a loop."""
    server = Server.create_local_server()
    target, port = server.target, server.address.rpartition(":")[2]
    del server
    gc.collect()
    assert answers(target)
    with pytest.raises(tf.errors.AlreadyExistsError):
        bind(f"localhost:{port}")
    from tfdist.wire import server as module

    [left] = [each for each in module._running if each.target == target]
    left.stop()
    assert not answers(target)


def test_a_server_that_never_started_goes_with_its_name():
    server = Server.create_local_server(start=False)
    port = server.address.rpartition(":")[2]
    del server
    gc.collect()
    bind(f"localhost:{port}").close()


@pytest.fixture
def tasks():
    servers = start_servers({"local": 2})
    yield servers
    for each in servers:
        each.stop()


def test_variables_are_shared_by_name(tasks):
    """As in "Sharing variables and placement": the same graph, sessions on different tasks."""
    graphs = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            v = tf.Variable(0.0, name="var")
            tf.assign_add(v, 1.0, name="add")
        graphs.append(graph)
    one = tf.Session(tasks[0].target, graph=graphs[0])
    other = tf.Session(tasks[1].target, graph=graphs[1])
    with one, other:
        one.run("var/Assign")
        assert (one.run("var:0"), other.run("var:0")) == (0.0, 0.0)
        one.run("add")
        assert (one.run("var:0"), other.run("var:0")) == (1.0, 1.0)
        other.run("add")
        assert (one.run("var:0"), other.run("var:0")) == (2.0, 2.0)


def test_variables_outlive_sessions(tasks):
    v = tf.Variable(1.0)
    with tf.Session(tasks[0].target) as session:
        session.run(v.initializer)
        session.run(v.assign_add(4.0))
    with tf.Session(tasks[1].target) as session:
        assert session.run(v) == 5.0


def test_a_pinned_variable_lives_on_its_task(tasks):
    with tf.device("/job:local/task:1"):
        v = tf.Variable(1.0, name="v")
    with tf.Session(tasks[0].target) as session:
        session.run(v.initializer)
        assert session.run(v) == 1.0
    names = [[row[2] for row in each.task.worker.resources.rows()] for each in tasks]
    assert names == [[], ["v"]]


def test_queues_are_shared_by_name(tasks):
    sizes = []
    for server in tasks:
        with tf.Graph().as_default() as graph:
            queue = tf.FIFOQueue(5, tf.int32, shared_name="shared", name=f"q{len(sizes)}")
            put, size = queue.enqueue(1), queue.size()
        with tf.Session(server.target, graph=graph) as session:
            session.run(put)
            sizes.append(session.run(size))
    assert sizes == [1, 2]


def test_a_shared_queue_of_another_kind_is_refused(tasks):
    queue = tf.FIFOQueue(5, tf.int32, shared_name="shared", name="q")
    other = tf.FIFOQueue(5, tf.float32, shared_name="shared", name="p")
    with tf.Session(tasks[0].target) as session:
        assert session.run(queue.size()) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"'shared' has .* types int32"):
            session.run(other.size())


def test_several_cpus_per_task():
    servers = start_servers({"a": 2}, cpus=2)
    try:
        with tf.device("/job:a/task:1/cpu:1"):
            x = tf.constant(1) + 1
        with tf.Session(servers[0].target) as session:
            assert len(session.list_devices()) == 4
            assert session.run(x) == 2
    finally:
        for each in servers:
            each.stop()


def test_a_config_sets_the_devices_of_a_server():
    config = tf.ConfigProto(device_count={"CPU": 3})
    with Server.create_local_server(config=config) as server:
        with tf.Session(server.target) as session:
            assert len(session.list_devices()) == 3


def test_start_servers_names_all_tasks():
    servers = start_servers({"worker": 2, "ps": 1})
    try:
        assert [each.task_name for each in servers] == [
            "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1",
        ]  # fmt: skip
        assert len({each.address for each in servers}) == 3
    finally:
        for each in servers:
            each.stop()


def test_start_servers_leaves_nothing_behind_when_a_port_is_taken():
    first = free_port()
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        taken = holder.getsockname()[1]
        with pytest.raises(tf.errors.AlreadyExistsError, match=str(taken)):
            start_servers({"a": 2}, [first, taken])
        bind(f"localhost:{first}").close()


@pytest.mark.usefixtures("soon_given_up")
def test_a_session_needs_all_tasks_that_it_spans():
    cluster = {"a": ["localhost:0"], "b": [f"localhost:{free_port()}"]}
    with Server(cluster, "a", 0) as server:
        session = tf.Session(server.target)
        with pytest.raises(tf.errors.UnavailableError, match="/job:b/replica:0/task:0"):
            session.run(tf.constant(1))
        with Server(cluster, "b", 0):
            with tf.Session(server.target) as later:
                assert later.run(tf.constant(1)) == 1


def test_stopping_one_task_ends_sessions_that_span_it(tasks):
    x = tf.constant(1)
    with tf.Session(tasks[0].target) as session:
        session.run(x)
        tasks[1].stop()
        with pytest.raises(tf.errors.AbortedError, match=r"task:1 is gone.*open a new one"):
            session.run(x)

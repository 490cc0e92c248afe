"""Sessions: opened, closed, default; what they refuse; what their options do."""

import gc
import threading

import numpy as np
import pytest

import tfdist as tf


def test_a_session_is_a_context():
    x = tf.constant(1)
    with tf.Session() as session:
        assert tf.get_default_session() is session
        assert x.eval() == session.run(x) == 1
        assert tf.get_default_graph() is session.graph
    assert tf.get_default_session() is None


def test_a_session_makes_its_graph_the_default():
    with tf.Graph().as_default() as other:
        pass
    with tf.Session(graph=other) as session:
        assert session.graph is other
        assert tf.constant(1).graph is other


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda s, x: s.run(x), id="a run that was seen before"),
        pytest.param(lambda s, x: s.run(x + 1), id="a new run"),
        pytest.param(lambda s, x: s.run([]), id="a run of nothing"),
        pytest.param(lambda s, x: s.list_devices(), id="its devices"),
    ],
)
def test_a_closed_session_is_closed(use):
    x = tf.constant(1)
    session = tf.Session()
    session.run(x)
    session.close()
    session.close()
    with pytest.raises((RuntimeError, tf.errors.CancelledError), match="closed"):
        use(session, x)


def test_a_session_that_never_ran_can_be_closed():
    session = tf.Session()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(tf.constant(1))


def test_a_context_closes_even_after_an_error():
    x = tf.constant(1)
    with pytest.raises(KeyError), tf.Session() as session:
        raise KeyError
    with pytest.raises(RuntimeError, match="closed"):
        session.run(x)
    assert tf.get_default_session() is None


def test_an_empty_graph_cannot_be_run():
    with tf.Session() as session, pytest.raises(RuntimeError, match="graph is empty"):
        session.run([])


def test_as_default_does_not_close():
    x = tf.constant(1)
    session = tf.Session()
    with session.as_default():
        assert tf.get_default_session() is session
        assert x.eval() == 1
        x.op.run()
    assert tf.get_default_session() is None
    assert session.run(x) == 1
    session.close()


def test_default_sessions_nest():
    one, other = tf.Session(), tf.Session()
    with one.as_default():
        with other.as_default():
            assert tf.get_default_session() is other
        assert tf.get_default_session() is one


def test_a_default_session_belongs_to_its_thread():
    seen = []
    with tf.Session():
        thread = threading.Thread(target=lambda: seen.append(tf.get_default_session()))
        thread.start()
        thread.join(10)
    assert seen == [None]


def test_eval_refuses_a_session_of_another_graph():
    with tf.Graph().as_default():
        there = tf.constant(1)
    with tf.Session(), pytest.raises(ValueError, match="another"):
        there.eval()


def test_eval_takes_a_session():
    x = tf.placeholder(tf.float32)
    session = tf.Session()
    assert (x + 1.0).eval({x: 1.0}, session) == 2.0
    session.close()


def test_an_interactive_session_is_the_default_until_it_closes():
    with tf.Graph().as_default() as other:
        x = tf.constant(3)
    session = tf.InteractiveSession(graph=other)
    assert tf.get_default_session() is session
    assert tf.get_default_graph() is other
    assert x.eval() == 3
    session.close()
    assert tf.get_default_session() is None
    assert tf.get_default_graph() is not other


def test_a_graph_may_grow():
    x = tf.constant(1)
    with tf.Session() as session:
        assert session.run(x) == 1
        assert session.run(x + 1) == 2
        variable = tf.Variable(5)
        session.run(variable.initializer)
        assert session.run(variable + x) == 6


def test_a_finalized_graph_runs(graph):
    x = tf.constant(1) + 1
    graph.finalize()
    with tf.Session() as session:
        assert session.run(x) == 2


def test_sessions_without_target_share_nothing():
    v = tf.Variable(1.0)
    with tf.Session() as one, tf.Session() as other:
        one.run(v.initializer)
        other.run(v.initializer)
        one.run(v.assign_add(1.0))
        assert (one.run(v), other.run(v)) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"target": "http://x:1"}, tf.errors.NotFoundError, id="another protocol"),
        pytest.param({"target": "localhost:1"}, tf.errors.NotFoundError, id="no protocol"),
        pytest.param({"target": 3}, TypeError, id="a target that is a number"),
        pytest.param({"config": 3}, TypeError, id="a config that is none"),
        pytest.param({"graph": 3}, TypeError, id="a graph that is none"),
    ],
)
def test_arguments_that_are_refused(arguments, error):
    with pytest.raises(error):
        tf.Session(**arguments)


def test_a_server_that_is_not_there(monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=1")
    session = tf.Session("grpc://127.0.0.1:1")
    with pytest.raises(tf.errors.UnavailableError, match=r"127\.0\.0\.1:1"):
        session.run(tf.constant(1))


def test_a_target_may_be_bytes():
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target.encode()) as session:
            assert session.run(tf.constant(1)) == 1


def test_what_a_session_says_of_itself(graph):
    tf.constant(1, name="c")
    session = tf.Session()
    assert (session.graph, session.target, session.sess_str) == (graph, "", "")
    assert [node.name for node in session.graph_def.node] == ["c"]
    assert repr(session) == "<tf.Session open target=''>"
    session.close()
    assert "closed" in repr(session)


def test_a_dropped_session_is_closed():
    with tf.train.Server.create_local_server() as server:
        session = tf.Session(server.target)
        session.run(tf.constant(1))
        assert len(server.task.master._state.sessions) == 1
        del session
        gc.collect()
        assert not server.task.master._state.sessions


def test_a_config_of_real_tensorflows_kind_is_read_by_its_fields():
    config = tf.ConfigProto()
    config.allow_soft_placement = True
    config.gpu_options.allow_growth = True
    with tf.device("/gpu:0"):
        x = tf.constant(1)
    with tf.Session(config=config) as session:
        assert session.run(x) == 1


# callables


def test_a_callable_takes_values_in_order():
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [], name="y")
    with tf.Session() as session:
        subtract = session.make_callable(x - y, [y, x])
        assert subtract(1.0, 5.0) == 4.0
        both = session.make_callable([x * 2.0, tf.no_op()], [x])
        assert both(3.0) == [6.0, None]
        named = session.make_callable(y + 1.0, ["y:0"])
        assert named(1.0) == 2.0
        assert session.make_callable(tf.constant(7))() == 7


def test_a_callable_wants_all_its_values():
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        double = session.make_callable(x * 2.0, [x])
        for values in ((), (1.0, 2.0)):
            with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
                double(*values)


def test_a_callable_takes_options():
    x = tf.constant(1.0) + 1.0
    with tf.Session() as session:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        call = session.make_callable(x, accept_options=True)
        assert call(options=options, run_metadata=metadata) == 2.0
        assert metadata.step_stats.dev_stats


# randomness


@pytest.mark.parametrize("graph_seed", [None, 7], ids=["op seed", "both seeds"])
def test_seeded_draws_repeat_in_a_new_session(graph_seed):
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    x = tf.random_uniform([3], seed=5)

    def draws():
        with tf.Session() as session:
            return [session.run(x).tolist() for _ in range(3)]

    first = draws()
    assert draws() == first
    assert len({str(each) for each in first}) == 3


def test_draws_without_seed_differ():
    x = tf.random_uniform([3])
    found = []
    for _ in range(2):
        with tf.Session() as session:
            found.append(session.run(x).tolist())
    assert found[0] != found[1]


# containers


def test_a_reset_clears_all_containers():
    v = tf.Variable(1.0)
    with tf.container("mine"):
        w = tf.Variable(2.0)
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
        tf.Session.reset(server.target)
        with tf.Session(server.target) as session:
            for each in (v, w):
                with pytest.raises(tf.errors.FailedPreconditionError):
                    session.run(each)


def test_a_reset_clears_the_named_containers():
    v = tf.Variable(1.0)
    with tf.container("mine"):
        w = tf.Variable(2.0)
        queue = tf.FIFOQueue(3, tf.int32)
    put, size = queue.enqueue(1), queue.size()
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as session:
            session.run([tf.global_variables_initializer(), put])
        tf.Session.reset(server.target, ["mine"])
        with tf.Session(server.target) as session:
            assert session.run([v, size]) == [1.0, 0]
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(w)


def test_containers_keep_variables_of_one_name_apart():
    graphs = []
    for container, value in (("a", 1.0), ("b", 2.0)):
        with tf.Graph().as_default() as graph, tf.container(container):
            tf.Variable(value, name="v")
        graphs.append(graph)
    with tf.train.Server.create_local_server() as server:
        for graph in graphs:
            with tf.Session(server.target, graph=graph) as session:
                session.run("v/Assign")
        found = []
        for graph in graphs:
            with tf.Session(server.target, graph=graph) as session:
                found.append(session.run("v:0"))
    assert found == [1.0, 2.0]


def test_load_gives_a_variable_a_value():
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as session:
        v.load([3.0, 4.0], session)
        assert v.eval().tolist() == [3.0, 4.0]
        v.load(np.zeros(2))
        assert session.run(v).tolist() == [0.0, 0.0]

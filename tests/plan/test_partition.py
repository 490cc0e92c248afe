"""Partitioning: graph in, partitions out, with `_Send` and `_Recv` on the cuts."""

import pytest

import tfdist as tf
from tests.plan.graphs import CLIENT, cluster, nodes_of, plan, shown
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.plan.partition import Signature, plan_step
from tfdist.plan.place import place


def line():
    """x on b feeds y on a."""
    with tf.device("/job:b"):
        x = tf.identity(tf.placeholder(tf.float32, name="p"), name="x")
    with tf.device("/job:a"):
        tf.negative(x, name="y")
    with tf.device("/job:b"):
        tf.square(x, name="z")


def fan_out():
    """x on a is needed twice on b."""
    with tf.device("/job:a"):
        x = tf.constant(1.0, name="x")
    with tf.device("/job:b"):
        tf.negative(x, name="y")
        tf.square(x, name="z")


def control_edges():
    """n on b runs before y and z on a."""
    with tf.device("/job:b"):
        n = tf.no_op(name="n")
    with tf.device("/job:a"), tf.control_dependencies([n]):
        tf.no_op(name="y")
        tf.no_op(name="z")


def there_and_back():
    with tf.device("/job:a"):
        x = tf.constant(1.0, name="x")
    with tf.device("/job:b"):
        y = tf.negative(x, name="y")
    with tf.device("/job:a"):
        tf.add(x, y, name="z")


def after_a_placeholder():
    with tf.device("/job:b"), tf.control_dependencies([tf.placeholder(tf.float32, name="x")]):
        tf.no_op(name="y")


CASES = [
    pytest.param(
        after_a_placeholder, {"targets": "y", "feeds": "x"},
        {"a0": ["feeds x"], "b0": ["y = NoOp()"]},
        id="nobody has to wait for a placeholder that is fed",
    ),
    pytest.param(
        there_and_back, {"fetches": "x"}, {"a0": ["fetches x", "x = Const()"]},
        id="what is not needed is not there",
    ),
    pytest.param(
        fan_out, {"targets": "y z"},
        {
            "a0": ["x = Const()", "x_S = _Send(x)"],
            "b0": ["x_S = _Recv()", "y = Neg(x_S)", "z = Square(x_S)"],
        },
        id="a tensor crosses once for two consumers",
    ),
    pytest.param(
        fan_out, {"fetches": "y"},
        {
            "a0": ["fetches y_S", "x = Const()", "x_S = _Send(x)", "y_S = _Recv()"],
            "b0": ["x_S = _Recv()", "y = Neg(x_S)", "y_S = _Send(y)"],
        },
        id="a fetch comes back to the client's task",
    ),
    pytest.param(
        line, {"targets": "z", "feeds": "p"},
        {
            "a0": ["_recv_p_0_S = _Send(p)", "feeds p"],
            "b0": ["_recv_p_0_S = _Recv()", "x = Identity(_recv_p_0_S)", "z = Square(x)"],
        },
        id="a feed enters at the client's task and is sent from there",
    ),
    pytest.param(
        line, {"fetches": "y", "feeds": "x"},
        {"a0": ["feeds x", "fetches y", "y = Neg(x)"]},
        id="a feed replaces what is above it, wherever it sits",
    ),
    pytest.param(
        line, {"fetches": "x", "feeds": "x"}, {"a0": ["feeds x", "fetches x"]},
        id="a tensor that is fed and fetched goes nowhere",
    ),
    pytest.param(
        control_edges, {"targets": "y z"},
        {
            "a0": ["n_ctrl_S = _Recv()", "y = NoOp(^n_ctrl_S)", "z = NoOp(^n_ctrl_S)"],
            "b0": ["n = NoOp()", "n_ctrl_S = Const(^n)", "n_ctrl_S = _Send(n_ctrl_S)"],
        },
        id="a dependency across tasks is an empty tensor, sent once",
    ),
    pytest.param(
        there_and_back, {"fetches": "z"},
        {
            "a0": [
                "fetches z", "x = Const()", "x_S = _Send(x)", "y_S = _Recv()", "z = Add(x, y_S)",
            ],
            "b0": ["x_S = _Recv()", "y = Neg(x_S)", "y_S = _Send(y)"],
        },
        id="there and back again",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "asked", "expected"), CASES)
def test_partition(build, asked, expected):
    assert shown(plan(build, **asked)) == expected


def test_the_clients_task_comes_first_even_with_nothing_to_do():
    found = plan(line, targets="x", feeds="p", devices=cluster("a0", "b0"))
    assert found.partitions[0].task == "/job:a/replica:0/task:0"
    found = plan(control_edges, targets="n")
    assert [(part.task[5], len(part.nodes)) for part in found.partitions] == [("a", 0), ("b", 1)]


def test_fetches_keep_their_order_and_repetitions():
    found = plan(there_and_back, fetches="z x z")
    [part, _] = found.partitions
    assert [name for name, _ in part.fetches] == ["z", "x", "z"]


def test_sends_and_receives_meet_under_one_key():
    found = plan(there_and_back, fetches="z")
    ends = [n for part in found.partitions for n in part.nodes if n.op in ("_Send", "_Recv")]
    keys = ("tensor_name", "send_device", "recv_device", "send_device_incarnation")
    met = {}
    for node in ends:
        met.setdefault(tuple(node.attrs[key] for key in keys), []).append(node)
    assert [sorted(n.op for n in pair) for pair in met.values()] == [["_Recv", "_Send"]] * 2
    for _, source, target, _ in met:
        assert source.startswith(b"/job:")
        assert source != target
    for node in ends:
        side = "send_device" if node.op == "_Send" else "recv_device"
        assert node.attrs[side].decode() == node.device


def test_a_send_carries_the_life_of_its_device():
    graph = nodes_of(fan_out)
    placement = place(list(graph.values()), graph, {}, cluster("a0", "b0"))
    found = plan_step(graph, placement, Signature((), (), ("y",)), CLIENT, {CLIENT: 7})
    sends = [n for part in found.partitions for n in part.nodes if n.op in ("_Send", "_Recv")]
    assert [node.attrs["send_device_incarnation"] for node in sends] == [7, 7]


def test_a_variable_crosses_as_its_value():
    def build():
        with tf.device("/job:b"):
            tf.Variable(1.0, name="v")

    found = plan(build, fetches="v")
    types = {n.op: n.attrs.get("T", n.attrs.get("tensor_type")) for n in found.partitions[1].nodes}
    assert types["_Send"] is tf.float32


def test_two_devices_of_one_task_need_no_transfer():
    def build():
        with tf.device("/job:a/cpu:0"):
            x = tf.constant(1.0, name="x")
        with tf.device("/job:a/cpu:1"):
            tf.negative(x, name="y")

    graph = nodes_of(build)
    devices = [*cluster("a0"), cluster("a0")[0]._replace(device_index=1)]
    placement = place(list(graph.values()), graph, {}, devices)
    found = plan_step(graph, placement, Signature((), (("y", 0),), ()), CLIENT, {})
    assert shown(found) == {"a0": ["fetches y", "x = Const()", "y = Neg(x)"]}


def test_node_names_stay_unique():
    found = plan(there_and_back, fetches="z")
    names = [node.name for part in found.partitions for node in part.nodes]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        pytest.param({}, InvalidArgumentError, "nothing to do", id="nothing is asked for"),
        pytest.param({"fetches": "q"}, NotFoundError, "fetch q:0", id="no such fetch"),
        pytest.param({"fetches": "y", "feeds": "q"}, NotFoundError, "feed q:0", id="no such feed"),
        pytest.param({"targets": "q"}, NotFoundError, "'q'", id="no such target"),
        pytest.param({"fetches": "y:1"}, InvalidArgumentError, "1 outputs", id="no such output"),
        pytest.param(
            {"fetches": "y", "feeds": "x x"}, InvalidArgumentError, "fed twice", id="fed twice"
        ),
    ],
)
def test_what_cannot_be_planned(asked, error, text):
    with pytest.raises(error, match=text):
        plan(line, **asked)


def test_a_node_without_device_is_told_only_if_it_is_needed():
    def build():
        with tf.device("/job:nowhere"):
            tf.constant(1.0, name="lost")
        tf.constant(1.0, name="fine")

    assert plan(build, fetches="fine")
    with pytest.raises(InvalidArgumentError, match="cannot place node 'lost'") as raised:
        plan(build, fetches="lost")
    assert raised.value.node_name == "lost"

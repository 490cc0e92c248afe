"""Partitioning: graph in, partitions out, with `_Send` and `_Recv` on the cuts."""

import pytest

import tfdist as tf
from tests.plan.graphs import CLIENT, cluster, far_branch, nodes_of, plan, shown
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.records import is_back_edge
from tfdist.plan.partitioning.cutter import ALIVE
from tfdist.plan.partitioning.partition import plan_step
from tfdist.plan.place import place
from tfdist.plan.step_plan import Signature


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
    with pytest.raises(InvalidArgumentError, match=r"Cannot assign .* operation lost:") as raised:
        plan(build, fetches="lost")
    assert raised.value.node_name == "lost"


# branches and loops


def far_body():
    """A loop on a; what a round computes, and a constant of it, are on b."""
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        with tf.device("/job:b"):
            product = tf.multiply(s, x, name="t")
        return i + 1, product

    with tf.device("/job:a"):
        tf.while_loop(lambda i, s: i < 3, body, [0, x], name="w")
        out = tf.identity(tf.get_default_graph().get_tensor_by_name("w/Exit_1:0"), name="out")
    with tf.device("/job:b"):
        tf.negative(out, name="z")


def receives(step_plan):
    """Return the receives of a step, by the tensor that they receive."""
    return {
        node.attrs["tensor_name"].decode().split("_", 2)[2]: node
        for part in step_plan.partitions
        for node in part.nodes
        if node.op == "_Recv"
    }


@pytest.mark.parametrize(
    ("build", "asked", "tensor", "alive"),
    [
        pytest.param(far_branch, {"targets": "z", "feeds": "p x"}, "c/t/Switch", False,
                     id="what goes into a branch may be dead"),
        pytest.param(far_branch, {"targets": "z", "feeds": "p x"}, "c/t", False,
                     id="what a branch gives may be dead"),
        pytest.param(far_branch, {"targets": "z", "feeds": "p x"}, "out", True,
                     id="what comes after a cond is there in every step"),
        pytest.param(far_branch, {"targets": "z", "feeds": "out"}, "_recv_out_0", True,
                     id="what is fed is there in every step"),
        pytest.param(far_body, {"targets": "z", "feeds": "x"}, "w/LoopCond", False,
                     id="what is in a loop may be dead"),
        pytest.param(far_body, {"targets": "z", "feeds": "x"}, "out", True,
                     id="what a loop gives is there in every step"),
    ],
)  # fmt: skip
def test_a_receive_knows_whether_its_tensor_may_be_dead(build, asked, tensor, alive):
    found = receives(plan(build, **asked))
    assert found[tensor].attrs.get(ALIVE, False) is alive


def test_a_constant_of_a_loop_crosses_once_and_enters_there():
    step_plan = plan(far_body, "w/Exit_1", feeds="x")
    there = shown(step_plan)["b0"]
    assert "w/t/Enter = Enter(_recv_x_0_S)" in there
    assert "_recv_x_0_S = _Recv()" in there  # outside: it waits for no round
    assert sorted(receives(step_plan)) == ["_recv_x_0", "w/Identity_1", "w/LoopCond", "w/t"]


def test_what_waits_for_a_round_on_another_task_waits_for_its_own_gate():
    def build():
        def body(i):
            with tf.device("/job:b"):  # where nothing but its pivot tells that the round began
                one = tf.constant(1, name="one")
            return i + one

        with tf.device("/job:a"):
            tf.while_loop(lambda i: i < 3, body, [0], name="w")

    there = shown(plan(build, "w/Exit"))["b0"]
    assert "w/one = Const(^_cloop0_w/while_context/pivot)" in there
    assert not any("_ctrl" in line for line in there)


def test_what_waits_for_a_branch_elsewhere_waits_for_what_dies_with_it():
    """In TensorFlow's servers a dead `_Recv` lets those run that only wait for it."""

    def build():
        p = tf.placeholder(tf.bool, [], name="p")

        def far():
            with tf.device("/job:a"):
                first = tf.no_op(name="first")
            with tf.device("/job:b"), tf.control_dependencies([first]):
                return [tf.constant(1, name="one"), tf.constant(2, name="two")]

        tf.cond(p, far, lambda: [3, 4], name="c")

    there = shown(plan(build, "c/Merge c/Merge_1", feeds="p"))["b0"]
    assert "c/first_ctrl_S = _Recv()" in there
    [echo] = [line for line in there if "= Identity(c/first_ctrl_S)" in line]
    echo = echo.partition(" ")[0]
    for name in ("one", "two"):
        assert any(line.startswith(f"c/{name} = Const(") and f"^{echo}" in line for line in there)


def test_every_task_names_a_loops_frame_alike():
    enters = {
        (part.task[5], node.attrs["frame_name"])
        for part in plan(far_body, "w/Exit_1", feeds="x").partitions
        for node in part.nodes
        if node.op == "Enter"
    }
    assert enters == {("a", b"w/while_context"), ("b", b"w/while_context")}


@pytest.mark.parametrize(
    ("fetch", "feeds", "text"),
    [
        pytest.param("w/t", "x", "fetch w/t:0 is in loop 'w/while_context'", id="in a loop"),
        pytest.param("w/Enter", "x", "fetch w/Enter:0 is in loop", id="what enters one"),
        pytest.param("w/Exit_1", "x w/Identity_1:0", "has inputs from different frames",
                     id="a feed of what is in a loop is outside"),
    ],
)  # fmt: skip
def test_what_is_in_a_loop_is_neither_fetched_nor_fed(fetch, feeds, text):
    with pytest.raises(InvalidArgumentError, match=text):
        plan(far_body, fetch, feeds=feeds)


def test_partitions_of_loops_have_inputs_first():
    for part in plan(far_body, "w/Exit_1", feeds="x").partitions:
        nodes = {node.name: node for node in part.nodes}
        seen = {name for name, _ in part.feeds}
        for node in part.nodes:
            for name in (*(name for name, _ in node.inputs), *node.control):
                assert name in seen or is_back_edge(node, nodes[name]), (node.name, name)
            seen.add(node.name)


def other_types():
    """What is no float32, and a control edge."""
    with tf.device("/job:b"):
        count = tf.identity([1, 2], name="count")
        n = tf.no_op(name="n")
    with tf.device("/job:a"), tf.control_dependencies([n]):
        tf.negative(count, name="y")


AS_BFLOAT16 = [
    pytest.param(
        line, {"fetches": "y", "feeds": "p"},
        {
            "/job:a": [("Cast", True), ("_Send", "bfloat16"), ("_Recv", "bfloat16"),
                       ("Cast", False)],
            "/job:b": [("_Recv", "bfloat16"), ("Cast", False), ("Cast", True),
                       ("_Send", "bfloat16")],
        },
        id="float32 is cut off where it is sent, and made whole where it is received",
    ),
    pytest.param(
        other_types, {"fetches": "y"},
        {"/job:a": [("_Recv", "int32"), ("_Recv", "float32")],
         "/job:b": [("_Send", "int32"), ("_Send", "float32")]},
        id="other types cross as they are, and so does what stands for a control edge",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "step", "expected"), AS_BFLOAT16)
def test_what_crosses_as_bfloat16(build, step, expected):
    found = {}
    for partition in plan(build, **step, as_bfloat16=True).partitions:
        job = partition.task.partition("/replica")[0]
        found[job] = [
            (node.op, told(node))
            for node in partition.nodes
            if node.op in ("Cast", "_Send", "_Recv")
        ]
    assert found == expected


def told(node):
    """Return the type of what crosses, or whether a cast cuts off."""
    dtype = node.attrs.get("T") or node.attrs.get("tensor_type")
    return node.attrs["Truncate"] if node.op == "Cast" else dtype.name

"""Placement: the three rules, one sentence a case."""

import pytest

import tfdist as tf
from tests.plan.graphs import cluster, nodes_of, short
from tfdist.base.devices import parse
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.place import choose_device, place, rank

AB = ("a0", "b0", "b1")


def places(build, devices=AB, soft=False):
    """Return each node's device, or "!" and what its error says."""
    graph = nodes_of(build)
    found = place(list(graph.values()), graph, {}, cluster(*devices), soft)
    return {
        name: f"!{there.error.message}" if there.error else short(there.device)
        for name, there in found.items()
    }


@pytest.mark.parametrize(
    ("request_", "devices", "expected"),
    [
        pytest.param("", ["b0", "a1", "a0"], "a0", id="no request: first job by name, lowest task"),
        pytest.param("", ["a0", "a1 gpu"], "a1 gpu", id="no request: the best type comes first"),
        pytest.param("/job:b", AB, "b0", id="a job: its lowest task"),
        pytest.param("/job:b/task:1", AB, "b1", id="a task"),
        pytest.param("/task:1", AB, "b1", id="a task of whatever job has it"),
        pytest.param("/cpu:0", ["a0 gpu"], "a0", id="a type is honoured"),
        pytest.param("/gpu:*", ["a0", "b0 gpu"], "b0 gpu", id="any device of a type"),
        pytest.param("/job:a/gpu:0", ["a0 gpu", "b0"], "a0 gpu", id="a task's card"),
    ],
)
def test_choose_device(request_, devices, expected):
    chosen = choose_device(parse(request_), cluster(*devices), {"CPU", "GPU"})
    assert short(chosen.to_string()) == expected


def test_an_op_without_kernel_for_the_best_device_takes_the_next():
    chosen = choose_device(parse(""), cluster("a0 gpu"), {"CPU"})
    assert short(chosen.to_string()) == "a0"


REFUSED = [
    pytest.param(
        "/job:c", {"CPU"}, r"'/job:c'; the cluster has /job:a.*CPU:0, /job:b.*task:1", id="no job"
    ),
    pytest.param("/job:b/task:7", {"CPU"}, r"'/job:b/task:7'", id="no such task"),
    pytest.param("/cpu:3", {"CPU"}, r"CPU:3.*allow_soft_placement=True", id="no such CPU"),
    pytest.param("/gpu:0", {"CPU"}, r"GPU:0.*allow_soft_placement=True", id="no such card"),
    pytest.param("/cpu:0", {"GPU"}, r"kernels for \['GPU'\] only", id="no kernel for the CPU"),
]


@pytest.mark.parametrize(("request_", "kernels", "text"), REFUSED)
def test_a_request_that_cannot_be_met(request_, kernels, text):
    with pytest.raises(InvalidArgumentError, match=text):
        choose_device(parse(request_), cluster(*AB), kernels)


@pytest.mark.parametrize(
    ("request_", "kernels", "expected"),
    [
        pytest.param("/gpu:0", {"CPU"}, "a0", id="a missing card becomes a CPU"),
        pytest.param("/job:b/gpu:0", {"CPU"}, "b0", id="of the same job"),
        pytest.param("/job:b/task:1/cpu:5", {"CPU"}, "b1", id="a missing index, too"),
    ],
)
def test_soft_placement_drops_type_and_index(request_, kernels, expected):
    chosen = choose_device(parse(request_), cluster(*AB), kernels, soft=True)
    assert short(chosen.to_string()) == expected


def test_soft_placement_keeps_the_job():
    with pytest.raises(InvalidArgumentError, match="/job:c"):
        choose_device(parse("/job:c/gpu:0"), cluster(*AB), {"CPU"}, soft=True)


def test_the_masters_own_task_can_come_first():
    devices = rank(cluster("a0", "b0", "b1 gpu"), "/job:b/replica:0/task:0")
    assert [short(device.to_string()) for device in devices] == ["b0", "b1 gpu", "a0", "b1"]


def test_tasks_are_ordered_as_numbers():
    names = [f"/job:a/replica:0/task:{i}/device:CPU:0" for i in (10, 9, 2)]
    assert [spec.task for spec in rank(map(parse, names))] == [2, 9, 10]


def pinned():
    with tf.device("/job:b/task:1"):
        x = tf.constant(1.0, name="x")
    y = tf.identity(x, name="y")
    with tf.device("/job:a"):
        tf.add(x, y, name="z")


def variable():
    with tf.device("/job:b/task:1"):
        v = tf.Variable(1.0, name="v")
    with tf.device("/job:a"):
        v.assign_add(2.0, name="add")
    tf.assign(v, 3.0, name="set")


def queue():
    with tf.device("/job:b"):
        q = tf.FIFOQueue(1, tf.float32, name="q")
    q.enqueue(1.0, name="put")
    q.dequeue(name="take")
    q.size(name="size")


def colocated():
    with tf.device("/job:b/task:1"):
        x = tf.constant(1.0, name="x")
    with tf.colocate_with(x):
        tf.no_op(name="n")


def request_after_colocation():
    x = tf.identity(1.0, name="x")
    with tf.colocate_with(x), tf.device("/job:b"):
        tf.no_op(name="n")


def merged_requests():
    with tf.device("/job:b"):
        q = tf.FIFOQueue(1, tf.float32, name="q")
    with tf.device("/task:1"):
        q.dequeue(name="take")


def constant_of_one_consumer():
    with tf.device("/job:b/task:1"):
        tf.identity(tf.placeholder(tf.float32, name="p"), name="x")
    c = tf.constant(1.0, name="c")
    with tf.device("/job:b/task:1"):
        tf.identity(c, name="y")


def constant_of_two_consumers():
    c = tf.constant(1.0, name="c")
    for task in (0, 1):
        with tf.device(f"/job:b/task:{task}"):
            tf.identity(c, name=f"y{task}")


def constant_with_a_request():
    with tf.device("/job:b/task:0"):
        c = tf.constant(1.0, name="c")
    with tf.device("/job:b/task:1"):
        tf.identity(c, name="y")


def shape_of():
    with tf.device("/job:b/task:1"):
        x = tf.placeholder(tf.float32, name="x")
    tf.shape(x, name="s")
    tf.size(x, name="n")
    tf.rank(x, name="r")
    with tf.device("/job:a"):
        tf.shape(x, name="pinned")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(pinned, {"x": "b1", "y": "a0", "z": "a0"}, id="requests are honoured"),
        pytest.param(
            variable, {"v": "b1", "v/Assign": "b1", "v/read": "b1", "add": "b1", "set": "b1"},
            id="what takes a variable itself sits with it",
        ),
        pytest.param(
            queue, {"q": "b0", "put": "b0", "take": "b0", "size": "b0"},
            id="what uses a queue sits with it",
        ),
        pytest.param(colocated, {"x": "b1", "n": "b1"}, id="colocation is one device"),
        pytest.param(
            request_after_colocation, {"x": "b0", "n": "b0"},
            id="a request of a later member moves its group",
        ),
        pytest.param(
            merged_requests, {"q": "b1", "take": "b1"}, id="requests of a group are merged"
        ),
        pytest.param(
            constant_of_one_consumer, {"c": "b1", "y": "b1", "p": "b1"},
            id="a node without inputs joins its only consumer",
        ),
        pytest.param(
            constant_of_two_consumers, {"c": "a0", "y0": "b0", "y1": "b1"},
            id="a constant with consumers on two devices stays",
        ),
        pytest.param(constant_with_a_request, {"c": "b0"}, id="a pinned constant stays"),
        pytest.param(
            shape_of, {"s": "b1", "n": "b1", "r": "b1", "pinned": "a0"},
            id="Shape, Size and Rank stay with what they ask about",
        ),
    ],
)  # fmt: skip
def test_place(build, expected):
    found = places(build)
    assert {name: found[name] for name in expected} == expected


def test_a_reference_is_a_tie_without_any_colocation_attribute():
    nodes = nodes_of(variable)
    bare = {
        name: node._replace(device=node.device if name == "v" else "", attrs={
            key: value for key, value in node.attrs.items() if key != "_class"
        })
        for name, node in nodes.items()
    }  # fmt: skip
    found = place(list(bare.values()), bare, {}, cluster(*AB))
    assert {short(found[name].device) for name in ("v", "v/Assign", "add", "set")} == {"b1"}


# loops and branches: what TensorFlow 1.15 was seen to do


def a_loop(*pinned):
    """Build a loop, some of whose nodes are pinned to b1, all others to a0."""

    def build():
        with tf.device("/job:a"):
            tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * i), [0, 1], name="w")

    nodes = nodes_of(build)
    for name, node in nodes.items():
        device = "/job:b/task:1" if name in pinned else "/job:a"
        attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
        nodes[name] = node._replace(device=device, attrs=attrs)
    return nodes


VARIABLE = {f"w/{part}_1" for part in ("Enter", "Merge", "Switch", "NextIteration", "Exit")}


@pytest.mark.parametrize(
    ("pinned", "moved"),
    [
        pytest.param("w/Merge_1", VARIABLE, id="a variable of a loop is where its Merge is"),
        pytest.param("w/Enter_1", set(), id="an Enter stays with its Merge"),
        pytest.param("w/Switch_1", set(), id="so does a Switch that ends rounds"),
        pytest.param("w/Exit_1", set(), id="so does an Exit"),
        pytest.param("w/NextIteration_1", set(), id="so does what comes round"),
        pytest.param("w/LoopCond", {"w/LoopCond"}, id="the condition may be elsewhere"),
        pytest.param("w/mul", {"w/mul"}, id="so may what a round does"),
    ],
)
def test_where_a_loops_variable_is(pinned, moved):
    nodes = a_loop(pinned)
    found = place(list(nodes.values()), nodes, {}, cluster(*AB))
    assert {name for name in nodes if short(found[name].device) == "b1"} == moved


def test_branches_may_be_on_several_tasks():
    def build():
        x = tf.placeholder(tf.int32, [], name="x")

        def far():
            with tf.device("/job:b"):
                return tf.negative(x, name="t")

        with tf.device("/job:a"):
            tf.cond(x < 3, far, lambda: tf.square(x, name="f"), name="c")

    found = places(build)
    assert (found["c/t"], found["c/f"], found["c/Merge"]) == ("b0", "a0", "a0")
    assert {found[name] for name in ("c/t/Switch", "c/f/Switch")} == {"a0"}  # with what they take


def test_a_handle_that_enters_a_loop_stays_with_its_state():
    def build():
        with tf.device("/job:b"):
            queue = tf.FIFOQueue(9, tf.int32, shapes=[[]], name="q")
        with tf.device("/job:a"):
            tf.while_loop(lambda i: i < 3, lambda i: i + queue.dequeue(name="take"), [0], name="w")

    found = places(build)
    assert {found[name] for name in found if name in ("q", "w/take", "w/take/Enter")} == {"b0"}
    assert found["w/Merge"] == "a0"


def conflict():
    with tf.device("/job:b/task:1"):
        q = tf.FIFOQueue(1, tf.float32, name="q")
    with tf.device("/job:a"):
        q.dequeue(name="take")


def contradicting_users():
    q = tf.FIFOQueue(1, tf.float32, name="q")
    with tf.device("/job:b/task:1"):
        q.dequeue(name="first")
    with tf.device("/job:a"):
        q.dequeue(name="second")


def contradicting_colocation():
    with tf.device("/job:b/task:1"):
        x = tf.identity(1.0, name="x")
    with tf.colocate_with(x), tf.device("/job:a"):
        tf.no_op(name="n")


# TensorFlow 1.15 was asked: none of these is an error there
@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(conflict, {"q": "b1", "take": "b1"}, id="the queue's request wins"),
        pytest.param(
            contradicting_users, {"q": "b1", "first": "b1", "second": "b1"},
            id="of two users of an unpinned queue the first one wins",
        ),
        pytest.param(
            contradicting_colocation, {"x": "b1", "n": "b1"},
            id="who is colocated with wins over who is colocated",
        ),
    ],
)  # fmt: skip
def test_contradicting_requests_in_a_group(build, expected, soft):
    found = places(build, soft=soft)
    assert {name: found[name] for name in expected} == expected


def test_a_group_that_asks_for_what_is_not_there():
    def build():
        with tf.device("/gpu:0"):
            v = tf.Variable(1.0, name="v")
        v.assign_add(1.0, name="add")

    found = places(build)
    for name in ("v", "add"):
        assert found[name].startswith(f"!Cannot assign a device for operation {name}: node v was ")
        assert "/device:GPU:0" in found[name]
    assert places(build, soft=True)["add"] == "a0"


def test_an_error_stays_with_its_node():
    def build():
        with tf.device("/job:nowhere"):
            tf.constant(1.0, name="lost")
        tf.identity(tf.placeholder(tf.float32, name="x"), name="fine")

    found = places(build)
    assert found["fine"] == found["x"] == "a0"
    assert found["lost"].startswith("!Cannot assign a device for operation lost: node lost was")


def test_every_placement_has_a_reason():
    graph = nodes_of(queue)
    found = place(list(graph.values()), graph, {}, cluster(*AB))
    assert found["q"].reason == "pinned to /job:b"
    assert found["take"].reason == "with q"
    graph = nodes_of(constant_of_one_consumer)
    found = place(list(graph.values()), graph, {}, cluster(*AB))
    assert found["c"].reason == "with its consumer y"
    alone = {"n": Node("n", "NoOp")}
    assert place([alone["n"]], alone, {}, cluster(*AB))["n"].reason == "first device of the cluster"


def grown(build, first, soft=False):
    """Place the first nodes, then the others beside them; return all devices."""
    graph = nodes_of(build)
    nodes = list(graph.values())
    devices = cluster(*AB)
    earlier = {node.name: node for node in nodes[:first]}
    placed = place(nodes[:first], earlier, {}, devices, soft)
    placed |= place(nodes[first:], graph, placed, devices, soft)
    return {name: short(there.device) for name, there in placed.items()}, placed


def test_nodes_never_move():
    found, _ = grown(constant_of_one_consumer, 3)
    assert (found["c"], found["y"]) == ("a0", "b1")


@pytest.mark.parametrize("build", [variable, queue], ids=["variable", "queue"])
@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_new_nodes_join_their_group_where_it_is(build, first):
    found, _ = grown(build, first)
    together = [name for name in found if "/" not in name]
    at_once = places(build)
    assert {name: found[name] for name in together} == {name: at_once[name] for name in together}


def test_a_later_request_cannot_move_a_group():
    found, placed = grown(request_after_colocation, 2)
    assert (found["x"], found["n"]) == ("a0", "a0")
    assert placed["n"].error is None


def test_new_nodes_of_a_group_without_device_fail_as_it_does():
    def build():
        with tf.device("/job:nowhere"):
            v = tf.Variable(1.0, name="v")
        v.assign_add(1.0, name="add")

    _, placed = grown(build, 4)
    assert isinstance(placed["add"].error, InvalidArgumentError)


def test_metadata_of_an_earlier_node_stays_with_it():
    found, _ = grown(shape_of, 1)
    assert (found["x"], found["s"]) == ("b1", "b1")


def pipeline():
    names = tf.data.Dataset.range(3).map(lambda x: x + 1)
    names.make_one_shot_iterator().get_next(name="next")


def trained():
    v = tf.Variable(1.0, name="v")
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(v, name="loss"), name="train")


def mixed_group():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.colocate_with(x):
        tf.as_string(x, name="text")


def metadata_of_text():
    with tf.device("/cpu:0"):
        text = tf.placeholder(tf.string, [None], name="text")
    tf.shape(text, name="shape")
    tf.string_join([tf.constant("a", name="a"), text], name="joined")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(trained, {"v": "a0 gpu", "loss": "a0 gpu", "train": "a0 gpu"},
                     id="what nobody pinned takes a GPU, of whatever task"),
        pytest.param(lambda: tf.Variable(1, name="v").assign_add(1, name="add"),
                     {"v": "a0", "add": "a0"},
                     id="a variable without a GPU kernel keeps those that change it on the CPU"),
        pytest.param(mixed_group, {"x": "a0", "text": "a0"},
                     id="a group goes where all its nodes have kernels"),
        pytest.param(pipeline, {"next": "a0"}, id="a pipeline stays on the CPU"),
        pytest.param(metadata_of_text, {"shape": "a0", "a": "a0", "joined": "a0"},
                     id="a shape stays with what it asks about, a constant goes with who takes it"),
    ],
)  # fmt: skip
def test_unpinned_nodes_where_there_is_a_gpu(build, expected):
    found = places(build, ["a0 gpu", "b0"])
    assert {name: found[name] for name in expected} == expected


def test_the_best_type_comes_before_the_first_job():
    assert places(trained, ["a0", "b0 gpu"])["loss"] == "b0 gpu"


def test_a_node_does_not_follow_to_where_it_has_no_kernel():
    def build():
        text = tf.constant("a", name="text")
        with tf.device("/gpu:0"):
            tf.identity(text, name="handed")

    found = places(build, ["a0 gpu"])
    assert (found["text"], found["handed"]) == ("a0", "a0 gpu")

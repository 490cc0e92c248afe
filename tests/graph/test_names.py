"""Names of nodes and scopes: unique, whatever the case, and scopes that open again."""

import threading

import pytest

import tfdist as tf


def node(name="x"):
    return tf.constant(1, name=name).op.name


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        pytest.param(["x", "x", "x"], ["x", "x_1", "x_2"], id="numbers are added"),
        pytest.param(["x", "X", "x"], ["x", "X_1", "x_2"], id="case makes no difference"),
        pytest.param(["x", "x", "x_1"], ["x", "x_1", "x_1_1"], id="a name that a number made"),
        pytest.param(["x_1", "x", "x"], ["x_1", "x", "x_2"], id="a number that is taken"),
        pytest.param(["a/b", "a/b", "a"], ["a/b", "a/b_1", "a"], id="a slash in a name"),
    ],
)
def test_names_are_unique(asked, got):
    assert [node(name) for name in asked] == got


def test_an_op_without_a_name_has_the_name_of_its_type():
    assert [tf.constant(1).op.name for _ in range(2)] == ["Const", "Const_1"]
    assert tf.no_op().name == "NoOp"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a b", id="a space"),
        pytest.param("_a", id="an underscore in front"),
        pytest.param("a:0", id="a colon"),
        pytest.param("ä", id="a letter that is not ASCII"),
    ],
)
def test_a_node_may_not_be_called(name):
    with pytest.raises(ValueError, match=f"'{name}'"):
        node(name)


def test_unique_name_can_be_asked_without_taking_it(graph):
    assert graph.unique_name("a") == "a"
    assert graph.unique_name("a", mark_as_used=False) == "a_1"
    assert graph.unique_name("a") == "a_1"
    assert graph.unique_name("b", mark_as_used=False) == "b"
    assert graph.unique_name("b") == "b"


def test_a_scope_is_a_prefix():
    with tf.name_scope("outer") as outer:
        assert (outer, node()) == ("outer/", "outer/x")
        with tf.name_scope("inner") as inner:
            assert (inner, node()) == ("outer/inner/", "outer/inner/x")
        assert node() == "outer/x_1"
    assert node() == "x"


def test_a_second_scope_of_one_name_is_another_scope():
    with tf.name_scope("s"):
        first = node()
    with tf.name_scope("s"):
        second = node()
    with tf.name_scope("S") as third:
        assert third == "S_2/"
    assert (first, second) == ("s/x", "s_1/x")


def test_a_scope_with_a_slash_is_entered_again():
    with tf.name_scope("s") as scope:
        node()
    with tf.name_scope(scope) as again:
        assert (again, node()) == ("s/", "s/x_1")
    with tf.name_scope("s/"):
        assert node() == "s/x_2"


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_name_is_the_root(nothing):
    with tf.name_scope("s"), tf.name_scope(nothing) as root:
        assert (root, node()) == ("", "x")


def test_a_node_takes_the_number_that_its_scope_would_have():
    node("s")
    with tf.name_scope("s") as scope:
        assert scope == "s_1/"


def test_a_node_can_have_the_name_of_its_scope():
    with tf.name_scope("s") as scope:
        assert node(scope) == "s"


@pytest.mark.parametrize("second", ["s", "s/"])
def test_no_two_nodes_have_one_name(graph, second):
    with graph.name_scope("s") as scope:
        first = tf.constant(1, name=scope)
    if second == "s":
        assert node("s") == "s_1"
    else:
        with pytest.raises(ValueError, match="'s'"):
            node(second)
    assert graph.get_tensor_by_name("s:0") is first


def test_a_default_name_stands_in():
    with tf.name_scope(None, "fallback", [tf.constant(1)]) as scope:
        assert scope == "fallback/"
    with tf.op_scope([tf.constant(1)], "given", "fallback") as scope:
        assert scope == "given/"


def test_a_scope_opens_in_the_graph_of_its_values():
    other = tf.Graph()
    with other.as_default():
        there = tf.constant(1)
    with tf.name_scope("s", values=[there]):
        assert tf.get_default_graph() is other
        assert node() == "s/x"
    assert other.get_name_scope() == ""


@pytest.mark.parametrize("name", ["a b", "_a", "a:0"])
def test_a_scope_may_not_be_called(name):
    with pytest.raises(ValueError, match=f"'{name}'"), tf.name_scope(name):
        pass


def test_an_inner_scope_may_begin_with_an_underscore():
    with tf.name_scope("a"), tf.name_scope("_b") as scope:
        assert scope == "a/_b/"


def test_an_error_inside_leaves_the_scope():
    with pytest.raises(KeyError), tf.name_scope("s"):
        raise KeyError
    assert node() == "x"


def test_constants_are_named_after_the_input_they_stand_for():
    x = tf.constant(1.0, name="x")
    with tf.name_scope("s"):
        total = x + 2.0
    assert [tensor.name for tensor in total.op.inputs] == ["x:0", "s/add/y:0"]


def test_a_scope_belongs_to_the_thread_that_opened_it(graph):
    names = []

    def build():
        with graph.as_default():
            names.append(node())

    with tf.name_scope("s"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join(10)
    assert names == ["x"]


def test_scopes_of_two_threads_do_not_mix(graph):
    entered, left = threading.Barrier(2, timeout=10), threading.Event()

    def first():
        with tf.name_scope("first"):
            entered.wait()
        left.set()

    def second():
        with graph.as_default(), tf.name_scope("second"):
            entered.wait()
            assert left.wait(10)

    thread = threading.Thread(target=second)
    thread.start()
    first()
    thread.join(10)
    assert node() == "x"


def test_many_threads_make_as_many_names(graph):
    def build():
        with graph.as_default():
            for _ in range(50):
                tf.constant(1.0, name="a") + 2.0

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    names = [op.name for op in graph.get_operations()]
    assert len(names) == len({name.lower() for name in names}) == 600

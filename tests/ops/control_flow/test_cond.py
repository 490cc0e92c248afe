"""`cond` and `case`: beside real TensorFlow, and what they build, run and leave alone.

Errors are compared in `test_flow_errors.py`, effects in `tests/runtime/test_control_flow.py`.
"""

import pytest

import tfdist as tf
from tests.ops.control_flow.flow_calls import BRANCHES
from tests.ops.control_flow.flow_results import check_result
from tests.ops.differential import calls


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


@pytest.mark.parametrize("source", calls(BRANCHES))
def test_a_call_gives_what_it_gives_in_tensorflow(source):
    check_result(source)


# what is built


def test_the_function_for_true_is_called_first():
    called = []
    tf.cond(
        tf.constant(False),
        lambda: called.append(True) or tf.constant(1),
        lambda: called.append(False) or tf.constant(2),
    )
    assert called == [True, False]


def test_a_result_from_outside_is_brought_in_once(graph):
    x = tf.constant(3.0)
    tf.cond(x > 2.0, lambda: (x, x * x), lambda: (x, x))
    switches = [op for op in graph.get_operations() if op.type == "Switch"]
    assert [op.inputs[0] for op in switches[1:]] == [x, x]  # one for each side


@pytest.mark.parametrize("old", [{"fn1": 1}, {"fn2": 2}, {"fn1": 1, "fn2": 2}])
def test_the_spelling_of_the_first_releases(session, old):
    functions = {"true_fn": lambda: tf.constant(1), "false_fn": lambda: tf.constant(2)}
    for name, number in old.items():
        del functions[{"fn1": "true_fn", "fn2": "false_fn"}[name]]
        functions[name] = lambda number=number: tf.constant(number)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, **functions)
    assert [session.run(y, {p: value}) for value in (True, False)] == [1, 2]


def test_names_of_scopes_do_not_repeat():
    p = tf.constant(True)
    same = [tf.cond(p, lambda: 1, lambda: 2, name="choice") for _ in range(2)]
    assert [each.op.name for each in same] == ["choice/Merge", "choice_1/Merge"]


def test_a_function_that_fails_leaves_the_graph_as_it_was(graph):
    """What is built afterwards is outside of the branch that was not finished."""
    x = tf.constant(3.0)
    with pytest.raises(ZeroDivisionError):
        tf.cond(x > 2.0, lambda: x / (1 // 0), lambda: x)
    y = x * 2.0
    assert y.op._get_control_flow_context() is None
    assert y.op.name == "mul"


def test_both_sides_keep_the_devices_and_scopes_of_their_functions():
    x = tf.constant(3.0)

    def side():
        with tf.device("/cpu:1"), tf.name_scope("inner"):
            return x * 2.0

    with tf.device("/cpu:0"):
        made = tf.cond(x > 2.0, side, lambda: x)
    mul = made.graph.get_operation_by_name("cond/inner/mul")
    assert (mul.device, made.op.device) == ("/device:CPU:1", "/device:CPU:0")


# what runs


def test_dependencies_around_a_cond_hold_for_its_nodes(session):
    """They gate the predicate's node, and so everything inside."""
    order = []
    first = tf.py_func(lambda: order.append("first"), [], [])
    with tf.control_dependencies([first]):
        y = tf.cond(
            tf.constant(True),
            lambda: tf.py_func(lambda: order.append("side") or 1, [], tf.int64),
            lambda: tf.constant(2, tf.int64),
        )
    for _ in range(3):
        assert session.run(y) == 1
    assert order == ["first", "side"] * 3


def test_effects_of_one_side_keep_their_order(session):
    order, p = [], tf.placeholder(tf.bool, [])

    def side(letters):
        def build():
            last = []
            for letter in letters:
                with tf.control_dependencies(last):
                    last = [tf.py_func(lambda letter=letter: order.append(letter), [], [])]
            return last[0]

        return build

    both = tf.cond(p, side("abc"), side("xyz"))
    for value in (True, False, True):
        session.run(both, {p: value})
    assert "".join(order) == "abcxyzabc"


def test_an_operation_as_a_result_runs_in_its_own_case_only(session):
    v, p = tf.Variable(0), tf.placeholder(tf.bool, [])
    done = tf.cond(p, lambda: tf.assign_add(v, 1).op, tf.no_op)
    session.run(v.initializer)
    for value in (True, False, True):
        assert session.run(done, {p: value}) == value
    assert session.run(v) == 2


def test_a_case_asks_in_order(session):
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 1, lambda: 10), (x < 3, lambda: 20), (x < 2, lambda: 30)]
    y = tf.case(pairs, default=lambda: 40)
    assert [session.run(y, {x: value}) for value in (0, 1, 2, 3)] == [10, 20, 20, 40]


def test_a_dict_of_cases_is_asked_by_the_names_of_predicates(session):
    later, sooner = tf.constant(True, name="b"), tf.constant(True, name="a")
    y = tf.case({later: lambda: 1, sooner: lambda: 2}, default=lambda: 3)
    assert session.run(y) == 2


def test_a_case_without_default_says_which_predicates_there_were(session):
    p, q = (tf.placeholder(tf.bool, [], name=name) for name in "pq")
    y = tf.case([(p, lambda: tf.constant(1)), (q, lambda: tf.constant(2))])
    assert [session.run(y, {p: first, q: True}) for first in (True, False)] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"None of .* as True.*p:0, q:0"):
        session.run(y, {p: False, q: False})


def test_an_exclusive_case_without_default_does_not_look_at_the_last(session):
    """As in TensorFlow 1.15: the last function has an assertion of its own."""
    p, q, r = (tf.placeholder(tf.bool, []) for _ in "pqr")
    made = [lambda number=number: tf.constant(number) for number in (1, 2, 3)]
    y = tf.case(list(zip((p, q, r), made, strict=True)), exclusive=True)
    assert session.run(y, {p: True, q: False, r: True}) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        session.run(y, {p: True, q: True, r: False})


@pytest.mark.parametrize("values", [(True, False), (False, True), (False, False)])
def test_an_exclusive_case_lets_one_be_true(session, values):
    p, q = (tf.placeholder(tf.bool, []) for _ in "pq")
    y = tf.case([(p, lambda: 1), (q, lambda: 2)], lambda: 3, exclusive=True)
    wanted = {(True, False): 1, (False, True): 2, (False, False): 3}[values]
    assert session.run(y, dict(zip((p, q), values, strict=True))) == wanted


@pytest.mark.parametrize("predicate", [[True], [True, False]])
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda p: tf.cond(p, lambda: 1, lambda: 2), id="cond"),
        pytest.param(
            lambda p: tf.while_loop(lambda i: tf.logical_and(p, i < 3), lambda i: i + 1, [0]),
            id="while_loop",
        ),
    ],
)
def test_a_predicate_that_turns_out_to_be_no_scalar(build, predicate):
    """In the first run, which is interpreted, and in those after it."""
    p = tf.placeholder(tf.bool, None)
    fetched = build(p)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar, but it"):
                session.run(fetched, {p: predicate})
        session.run(fetched, {p: False})

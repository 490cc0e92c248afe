"""Inlining: each kind of call, and the nodes that it becomes."""

import pytest

import tfdist as tf
from tests.plan import function_texts
from tests.plan.function_texts import lines, nodes
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.functions import Library
from tfdist.plan.check import check
from tfdist.plan.functions import inliner
from tfdist.plan.functions.inline import inline

FUNCTIONS = """
mul(x, y) -> (m:z:0)
  m = Mul(x, y)

two(x) -> (x, c:output:0)
  c = Const()
  unneeded = Neg(x)

loud(x) -> (x)
  p = Print(x)

last(x) -> (x) then n
  n = Neg(x)

square(x) -> (i:r0:0)
  i = mul(x, x)

quiet(x) -> (m:y:0)
  m = Neg(x)

louder(x) -> (m:y:0)
  p = Print(x)
  m = Neg(x)

devices(x) -> (b:y:0)
  a = Neg(x) on /job:worker
  b = Neg(a:y:0) on /task:1

after(x) -> (c:output:0)
  c = Const(^x)

turned(x) -> (l:output:0)
  e = Enter(x)
  m = Merge(e:output:0, n:output:0)
  n = NextIteration(m:output:0)
  l = Exit(m:output:0)

nothing() -> () then n
  n = NoOp()

constant() -> (c:output:0)
  c = Const()

asked() -> (i:r0:0)
  i = constant()

less(x, k) -> (l:z:0)
  l = Less(x, k)

times(x, k) -> (m:z:0, i:output:0)
  m = Mul(x, k)
  i = Identity(k)

swapped(x, k) -> (k, x)

under(x) -> (l:z:0)
  c = Const()
  l = Less(x, c:output:0)

loudly_under(x) -> (l:z:0)
  p = Print(x)
  l = Less(x, x)

gradient(x, dy) -> (m:z:0)
  m = Mul(x, dy)

chosen(x) -> (i:output:0)
  l = Less(x, x)
  i = If:quiet,square(l:z:0, x)

one(x) -> (i:r0:0)
  i = other(x)

other(x) -> (i:output:0)
  i = PartitionedCall:one(x)
"""

LIBRARY = function_texts.library(FUNCTIONS, quiet="gradient")

A = "a = Placeholder()\n"
P = "p = Bool()\n"

# A sentence, a graph, and the nodes that stand in it instead of the last one.
CALLS = {
    "a call by name": (
        "c = mul(a, a)",
        ["c/m = Mul(a, a)", "c = Identity(c/m)"],
    ),
    "a call by attribute": (
        "c = PartitionedCall:mul(a, a)",
        ["c/m = Mul(a, a)", "c = Identity(c/m)"],
    ),
    "several results, and a node that nobody needs": (
        "c = two(a)",
        ["c/c = Const()", "c = IdentityN(a, c/c)"],
    ),
    "a stateful node runs": (
        "c = StatefulPartitionedCall:loud(a)",
        ["c/p = Print(a)", "c = Identity(a, ^c/p)"],
    ),
    "a control result runs": (
        "c = last(a)",
        ["c/n = Neg(a)", "c = Identity(a, ^c/n)"],
    ),
    "no results": (
        "c = nothing()",
        ["c/n = NoOp()", "c = NoOp(^c/n)"],
    ),
    "calls in calls": (
        "c = square(a)",
        ["c/i/m = Mul(a, a)", "c/i = Identity(c/i/m)", "c = Identity(c/i)"],
    ),
    "devices": (
        "c = devices(a) on /job:ps/cpu:0",
        [
            "c/a = Neg(a) on /job:worker/device:CPU:0",
            "c/b = Neg(c/a) on /job:ps/task:1/device:CPU:0",
            "c = Identity(c/b) on /job:ps/cpu:0",
        ],
    ),
    "a device of the body alone": (
        "c = devices(a)",
        [
            "c/a = Neg(a) on /job:worker",
            "c/b = Neg(c/a) on /task:1",
            "c = Identity(c/b) on /task:1",
        ],
    ),
    "what it waits for": (
        "c = mul(a, a, ^a)",
        ["c/m = Mul(a, a, ^a)", "c = Identity(c/m, ^a)"],
    ),
    "several to wait for": (
        "b = Placeholder()\nc = two(a, ^a, ^b)",
        [
            "c/inputs = NoOp(^a, ^b)",
            "c/c = Const(^c/inputs)",
            "c = IdentityN(a, c/c, ^a, ^b)",
        ],
    ),
    "what it waits for, two calls deep": (
        "c = asked(^a)",
        ["c/i/c = Const(^a)", "c/i = Identity(c/i/c)", "c = Identity(c/i, ^a)"],
    ),
    "a body that waits for an argument": (
        "c = after(a)",
        ["c/c = Const(^a)", "c = Identity(c/c)"],
    ),
    "a name that is taken": (
        "c/m = Neg(a)\nc = mul(a, a)",
        ["c/m_1 = Mul(a, a)", "c = Identity(c/m_1)"],
    ),
    "a variable": (
        "v = VariableV2()\nc = mul(a, v)",
        ["c/read = Identity(v) beside v", "c/m = Mul(a, c/read)", "c = Identity(c/m)"],
    ),
    "on a device that is told by a name": (
        "t = Target()\nc = RemoteCall:quiet(t, a) on /cpu:0",
        ["c/m = Neg(a) on /job:far/device:CPU:0", "c = Identity(c/m) on /job:far/device:CPU:0"],
    ),
    "on a device that is told when it runs, which must be the call's": (
        "k = AsString(a)\nc = RemoteCall:quiet(k, a)",
        ["c/target = _RemoteTarget(k)", "c/m = Neg(a, ^c/target)", "c = Identity(c/m, ^c/target)"],
    ),
    "a gradient": (
        "c = SymbolicGradient:quiet(a, a)",
        ["c/m = Mul(a, a)", "c = Identity(c/m)"],
    ),
    "in a branch of nodes, by what is alive there": (
        f"{P}s = Switch(a, p)\nc = two(s:1)",
        ["c/input = Identity(s:1) beside s", "c/c = Const(^c/input)", "c = IdentityN(s:1, c/c)"],
    ),
    "after a branch of nodes": (
        f"{P}s = Switch(a, p)\nm = Merge(s, s:1)\nc = two(m)",
        ["c/c = Const()", "c = IdentityN(m, c/c)"],
    ),
    "a branch": (
        f"{P}c = If:two,two>2(p, a)",
        [
            "c/Switch = Switch(p, p)",
            "c/switch_f = Identity(c/Switch)",
            "c/switch_t = Identity(c/Switch:1)",
            "c/pred_id = Identity(p)",
            "c/Switch_1 = Switch(a, c/pred_id) beside a",
            "c/else/c = Const(^c/switch_f)",
            "c/then/c = Const(^c/switch_t)",
            "c/Merge = Merge(c/Switch_1, c/Switch_1:1)",
            "c/Merge_1 = Merge(c/else/c, c/then/c)",
            "c = IdentityN(c/Merge, c/Merge_1)",
        ],
    ),
    "a branch that acts, and waits": (
        f"{P}c = If:loud,quiet(p, a, ^a)",
        [
            "c/Switch = Switch(p, p, ^a)",
            "c/switch_f = Identity(c/Switch)",
            "c/switch_t = Identity(c/Switch:1)",
            "c/pred_id = Identity(p, ^a)",
            "c/Switch_1 = Switch(a, c/pred_id) beside a",
            "c/else/m = Neg(c/Switch_1)",
            "c/then/p = Print(c/Switch_1:1)",
            "c/Merge = Merge(c/else/m, c/Switch_1:1)",
            "c/done = Identity(c/switch_f)",
            "c/done_1 = Identity(c/switch_t, ^c/then/p)",
            "c/done_2 = Merge(c/done, c/done_1)",
            "c = Identity(c/Merge, ^c/done_2, ^a)",
        ],
    ),
    "one of three": (
        "i = Int()\nc = Case:quiet,quiet,quiet(i, a)",
        [
            "c/0/index = Const()",
            "c/0/Equal = Equal(i, c/0/index)",
            "c/0/Switch = Switch(c/0/Equal, c/0/Equal)",
            "c/0/switch_f = Identity(c/0/Switch)",
            "c/0/switch_t = Identity(c/0/Switch:1)",
            "c/0/pred_id = Identity(c/0/Equal)",
            "c/0/Switch_1 = Switch(i, c/0/pred_id) beside i",
            "c/0/Switch_2 = Switch(a, c/0/pred_id) beside a",
            "c/1/index = Const(^c/0/switch_f)",
            "c/1/Equal = Equal(c/0/Switch_1, c/1/index)",
            "c/1/Switch = Switch(c/1/Equal, c/1/Equal)",
            "c/1/switch_f = Identity(c/1/Switch)",
            "c/1/switch_t = Identity(c/1/Switch:1)",
            "c/1/pred_id = Identity(c/1/Equal)",
            "c/1/Switch_1 = Switch(c/0/Switch_1, c/1/pred_id) beside c/0/Switch_1",
            "c/1/Switch_2 = Switch(c/0/Switch_2, c/1/pred_id) beside c/0/Switch_2",
            "c/branch2/m = Neg(c/1/Switch_2)",
            "c/branch1/m = Neg(c/1/Switch_2:1)",
            "c/1/Merge = Merge(c/branch2/m, c/branch1/m)",
            "c/branch0/m = Neg(c/0/Switch_2:1)",
            "c/0/Merge = Merge(c/1/Merge, c/branch0/m)",
            "c = Identity(c/0/Merge)",
        ],
    ),
    "one of one": (
        "i = Int()\nc = Case:quiet(i, a)",
        ["c/branch0/m = Neg(a)", "c = Identity(c/branch0/m)"],
    ),
    "a loop with a constant": (
        "k = Placeholder()\nc = While:less,times(a, k, ^a)",
        [
            "c/Enter = Enter(a, ^a)",
            "c/Enter_1 = Enter(k, ^a)",
            "c/Merge = Merge(c/Enter, c/NextIteration)",
            "c/cond/l = Less(c/Merge, c/Enter_1)",
            "c/LoopCond = LoopCond(c/cond/l)",
            "c/Switch = Switch(c/Merge, c/LoopCond) beside c/Merge",
            "c/Identity = Identity(c/Switch:1)",
            "c/body/m = Mul(c/Identity, c/Enter_1)",
            "c/body/i = Identity(c/Enter_1, ^c/Identity)",
            "c/NextIteration = NextIteration(c/body/m)",
            "c/Exit = Exit(c/Switch)",
            "c = IdentityN(c/Exit, k, ^a)",
        ],
    ),
    "a loop that acts": (
        "c = StatelessWhile:loudly_under,louder(a)",
        [
            "c/Enter = Enter(a)",
            "c/Merge = Merge(c/Enter, c/NextIteration)",
            "c/cond/p = Print(c/Merge)",
            "c/cond/l = Less(c/Merge, c/Merge)",
            "c/done = Identity(c/cond/l, ^c/cond/p)",
            "c/LoopCond = LoopCond(c/done)",
            "c/Switch = Switch(c/Merge, c/LoopCond) beside c/Merge",
            "c/Identity = Identity(c/Switch:1)",
            "c/body/p = Print(c/Identity)",
            "c/body/m = Neg(c/Identity)",
            "c/done_1 = Identity(c/body/m, ^c/body/p)",
            "c/NextIteration = NextIteration(c/done_1)",
            "c/Exit = Exit(c/Switch)",
            "c = Identity(c/Exit)",
        ],
    ),
    "a branch in a loop": (
        "c = While:under,chosen(a)",
        [
            "c/Enter = Enter(a)",
            "c/Merge = Merge(c/Enter, c/NextIteration)",
            "c/cond/c = Const(^c/Merge)",
            "c/cond/l = Less(c/Merge, c/cond/c)",
            "c/LoopCond = LoopCond(c/cond/l)",
            "c/Switch = Switch(c/Merge, c/LoopCond) beside c/Merge",
            "c/Identity = Identity(c/Switch:1)",
            "c/body/l = Less(c/Identity, c/Identity)",
            "c/body/i/Switch = Switch(c/body/l, c/body/l)",
            "c/body/i/switch_f = Identity(c/body/i/Switch)",
            "c/body/i/switch_t = Identity(c/body/i/Switch:1)",
            "c/body/i/pred_id = Identity(c/body/l)",
            "c/body/i/Switch_1 = Switch(c/Identity, c/body/i/pred_id) beside c/Identity",
            "c/body/i/else/i/m = Mul(c/body/i/Switch_1, c/body/i/Switch_1)",
            "c/body/i/else/i = Identity(c/body/i/else/i/m)",
            "c/body/i/then/m = Neg(c/body/i/Switch_1:1)",
            "c/body/i/Merge = Merge(c/body/i/else/i, c/body/i/then/m)",
            "c/body/i = Identity(c/body/i/Merge)",
            "c/NextIteration = NextIteration(c/body/i)",
            "c/Exit = Exit(c/Switch)",
            "c = Identity(c/Exit)",
        ],
    ),
    "a loop of nodes in a body": (
        "c = turned(a)",
        [
            "c/e = Enter(a)",
            "c/m = Merge(c/e, c/n)",
            "c/n = NextIteration(c/m)",
            "c/l = Exit(c/m)",
            "c = Identity(c/l)",
        ],
    ),
}


def graph_of(text):
    """Return the nodes of a graph that begins with a placeholder."""
    return nodes(A + text)


@pytest.mark.parametrize("case", CALLS)
def test_a_call_becomes(case):
    text, expected = CALLS[case]
    given = graph_of(text)
    assert lines(inline(given, LIBRARY)) == [*lines(given[:-1]), *expected]


@pytest.mark.parametrize("case", CALLS)
def test_what_becomes_of_calls_is_a_graph(case):
    """All inputs are there, and of the types that their nodes take."""
    made = inline(graph_of(CALLS[case][0]), LIBRARY)
    check(made, {node.name: node for node in made})


def test_a_graph_without_calls_stays_as_it_is():
    given = tuple(graph_of("b = Neg(a)"))
    assert inline(given, LIBRARY) == given


def test_calls_are_added_to_a_graph_that_is_there():
    before = graph_of("c/m = Neg(a)")
    graph = {node.name: node for node in before}
    [call] = nodes("c = mul(a, a)")
    assert lines(inline([call], LIBRARY, graph)) == ["c/m_1 = Mul(a, a)", "c = Identity(c/m_1)"]


def test_a_body_stays_where_its_caller_was_placed():
    given = graph_of("c = devices(a) on /job:ps/replica:0/task:0/device:CPU:0")
    made = inline(given, LIBRARY, is_placed=True)
    assert {node.device for node in made[1:]} == {"/job:ps/replica:0/task:0/device:CPU:0"}


def test_colocation_stays_among_the_nodes_of_a_call():
    [mul] = [each for each in LIBRARY.functions.values() if each.name == "devices"]
    a, b = mul.nodes
    nodes_ = (a, b._replace(device="", attrs={**b.attrs, "_class": [b"loc:@a", b"loc:@x"]}))
    library = Library({"devices": mul._replace(nodes=nodes_)})
    made = inline(graph_of("c = devices(a)"), library)
    assert made[2].attrs["_class"] == [b"loc:@c/a"]


def test_a_colocated_call_takes_its_body_along():
    *before, call = graph_of("b = Neg(a)\nc = two(a)")
    call = call._replace(attrs={**call.attrs, "_class": [b"loc:@b"]})
    made = inline([*before, call], LIBRARY)
    assert [node.attrs.get("_class") for node in made[2:]] == [[b"loc:@b"]] * 2


def test_every_loop_of_a_body_has_a_frame_of_its_own():
    made = inline(graph_of("c = turned(a)\nd = turned(a)"), LIBRARY)
    frames = [node.attrs["frame_name"] for node in made if node.op == "Enter"]
    assert frames == [b"c/loop", b"d/loop"]


def test_constants_of_a_loop_are_told():
    made = inline(graph_of("k = Placeholder()\nc = While:less,times(a, k)"), LIBRARY)
    enters = [node for node in made if node.op == "Enter"]
    assert [node.attrs["is_constant"] for node in enters] == [False, True]
    assert {node.attrs["frame_name"] for node in enters} == {b"c"}


def test_something_goes_round_a_loop_of_constants():
    made = inline(graph_of("k = Placeholder()\nc = While:less,times(k, k)"), LIBRARY)
    assert "Merge" in [node.op for node in made]


def test_a_condition_that_is_no_bool_is_one():
    made = inline(graph_of("c = If:quiet,quiet(a, a)"), LIBRARY)
    assert "ToBool" not in [node.op for node in made]  # declared to be bool
    *before, call = graph_of("c = If:quiet,quiet(a, a)")
    call = call._replace(attrs={**call.attrs, "Tcond": tf.float32})
    made = inline([*before, call], LIBRARY)
    assert lines(made)[1:3] == ["c/ToBool = ToBool(a)", "c/Switch = Switch(c/ToBool, c/ToBool)"]


def test_bools_that_are_no_scalars_count_their_elements():
    p, *rest = nodes("p = Bool()\na = Placeholder()\nc = If:quiet,quiet(p, a)")
    attrs = {k: v for k, v in rest[-1].attrs.items() if k != "_lower_using_switch_merge"}
    call = rest[-1]._replace(attrs=attrs)
    for shape, has_count in ((((),), False), (((2,),), True), (((None,),), True), ((), True)):
        made = inline([p._replace(shapes=shape), rest[0], call], LIBRARY)
        assert ("ToBool" in [node.op for node in made]) == has_count


# A sentence, the node, and words of the error.
WRONG = {
    "no such function": ("c = PartitionedCall:gone(a)", r"'c'.*'gone' is not in .*library"),
    "an input too many": ("c = mul(a, a, a)", "takes 2 inputs, but has 3"),
    "an input too few": ("c = If:quiet,quiet()", "takes .* inputs, but has 0"),
    "a function of more arguments": ("c = PartitionedCall:mul(a)", r"'mul' takes \(float32, fl"),
    "a function of more results": ("c = PartitionedCall:two(a)", "gives 1 results.* gives 2"),
    "branches of more results": (f"{P}c = If:two,quiet(p, a)", r"branches \[1, 2\]"),
    "a body of more results": ("c = While:under,two(a)", "2 results for 1 variables"),
    "a condition of more results": ("c = While:two,quiet(a)", "condition gives 2 results"),
    "a function that calls itself": ("c = one(a)", "'one' calls itself: one -> other -> one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_told(case):
    text, words = WRONG[case]
    with pytest.raises(InvalidArgumentError, match=words):
        inline(graph_of(text), LIBRARY)


def test_an_attribute_that_is_none_is_told():
    *before, call = graph_of("c = PartitionedCall:mul(a, a)")
    for attrs in ({**call.attrs, "f": 3}, {"f": call.attrs["f"]}, {**call.attrs, "Tin": 4}):
        with pytest.raises(InvalidArgumentError, match="'c'"):
            inline([*before, call._replace(attrs=attrs)], LIBRARY)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        pytest.param("f(x) -> (y)", InvalidArgumentError, "'y'", id="a result"),
        pytest.param("f(x) -> (n:y:1)\nn = Neg(x)", InvalidArgumentError, "1 is asked", id="port"),
        pytest.param("f(x) -> (x)\nn = Neg(x)\nn = Neg(x)", InvalidArgumentError, "one", id="name"),
        pytest.param("f(x) -> (n:z)\nn = NoSuch(x)", NotFoundError, "NoSuch", id="an op"),
    ],
)
def test_a_wrong_body_is_told(text, error, words):
    with pytest.raises(error, match=words):
        inline(graph_of("c = f(a)"), function_texts.library(text))


def test_what_is_never_called_may_be_wrong():
    library = function_texts.library(FUNCTIONS + "\nbad(x) -> (n:z)\n  n = NoSuch(y)\n")
    assert lines(inline(graph_of("c = mul(a, a)"), library))[1:] == CALLS["a call by name"][1]


def test_functions_may_not_be_nested_without_end():
    texts = ["f0(x) -> (x)"]
    texts += [f"f{i}(x) -> (i:r0:0)\n  i = f{i - 1}(x)" for i in range(1, 200)]
    library = function_texts.library("\n\n".join(texts))
    inline(graph_of("c = f50(a)"), library)
    with pytest.raises(InvalidArgumentError, match="deep"):
        inline(graph_of("c = f199(a)"), library)


def test_a_small_graph_may_not_become_any_number_of_nodes(monkeypatch):
    monkeypatch.setattr(inliner, "_MOST", 1000)
    texts = ["f0(x) -> (n:y:0)\n  n = Neg(x)"]
    twice = "f{}(x) -> (j:r0:0)\n  i = f{}(x)\n  j = f{}(i:r0:0)"
    texts += [twice.format(i, i - 1, i - 1) for i in range(1, 40)]
    library = function_texts.library("\n\n".join(texts))
    assert len(inline(graph_of("c = f5(a)"), library)) == 1 + 32 + 63
    with pytest.raises(InvalidArgumentError, match="more than"):
        inline(graph_of("c = f39(a)"), library)

"""Calls of branches, loops and Python functions, for real TensorFlow and for ours: wrong and right.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but the script beside it. It prints one JSON object, what comes of every call. To store that,
so that the comparison needs no real TensorFlow:

    python -m tests.ops.control_flow.flow_calls "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

import collections
import json
import os
import shlex
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ERRORS_THERE = os.path.join(HERE, "flow_errors_1_15.json")
RESULTS_THERE = os.path.join(HERE, "flow_results_1_15.json")

if __name__ == "__main__":
    sys.path += [os.path.dirname(HERE)]
    from differential import calls, plain, static
else:
    from tests.ops.differential import calls, plain, static

Pair = collections.namedtuple("Pair", "first second")
One = collections.namedtuple("One", "only")

# What the error's message says here and there of what is wrong, and the call. The names in it are
# those of `environment`.
ERRORS = """
false_fn argument required | tf.cond(p, lambda: x)
false_fn argument required | tf.cond(p, x)
true_fn must be callable. | tf.cond(p, x, lambda: x)
false_fn must be callable. | tf.cond(p, lambda: x, x)
true_fn and fn1 may not be set simultaneously. | tf.cond(p, lambda: x, lambda: x, fn1=lambda: x)
false_fn and fn2 may not be set simultaneously. | tf.cond(p, lambda: x, lambda: x, fn2=lambda: x)
missing 1 required positional argument: 'y' | tf.cond(p, lambda y: x, lambda: x)
pred must not be a Python bool | tf.cond(True, lambda: x, lambda: x)
bool | tf.cond(1, lambda: x, lambda: x)
bool | tf.cond("a", lambda: x, lambda: x)
None | tf.cond(None, lambda: x, lambda: x)
'pred' of 'Switch' Op has type float32 that does not match | tf.cond(x, lambda: x, lambda: x)
rank 0 | tf.cond([True], lambda: x, lambda: x)
rank 0 | tf.cond(tf.constant([True, False]), lambda: x, lambda: x)
must be a scalar, but it has shape [2] | tf.cond(unknown([True, False]), lambda: x, lambda: x)
must be a scalar, but it has shape [1] | tf.cond(unknown([True]), lambda: x, lambda: x)
true_fn must have a return value. | tf.cond(p, lambda: None, lambda: x)
false_fn must have a return value. | tf.cond(p, lambda: x, lambda: None)
true_fn must have a return value. | tf.cond(p, lambda: None, lambda: None, strict=True)
must return at least one result | tf.cond(p, lambda: [], lambda: [])
None | tf.cond(p, lambda: (x, None), lambda: (x, x))
object | tf.cond(p, lambda: object(), lambda: x)
must have the same type: float32, int32 | tf.cond(p, lambda: x, lambda: n)
must have the same type: int32, float32 | tf.cond(p, lambda: [x, n], lambda: [x, x])
must have the same type: float32, string | tf.cond(p, lambda: x, lambda: "a")
must have the same type: bool, float32 | tf.cond(p, lambda: x.op, lambda: x)
don't have the same nested structure | tf.cond(p, lambda: (x, x), lambda: x)
is a sequence, while | tf.cond(p, lambda: x, lambda: (x, x))
is a sequence, while | tf.cond(p, lambda: (x, x), lambda: (x,))
is a sequence, while | tf.cond(p, lambda: [x], lambda: x, strict=True)
is a sequence, while | tf.cond(p, lambda: [[x]], lambda: [x])
is a sequence, while | tf.cond(p, lambda: {"a": x}, lambda: [x])
don't have the same number of elements | tf.cond(p, lambda: (x, x), lambda: (x, x, x))
don't have the same sequence type | tf.cond(p, lambda: (x, x), lambda: [x, x])
don't have the same sequence type | tf.cond(p, lambda: (x,), lambda: [x], strict=True)
don't have the same sequence type | tf.cond(p, lambda: Pair(x, x), lambda: (x, x))
don't have the same set of keys | tf.cond(p, lambda: {"a": x}, lambda: {"b": x})
does not have value | same(tf.cond(f, lambda: leak(x + 1), lambda: x), lambda _: leaked[0] + 1)

 | tf.case([])
fns must be a list, tuple, or dict | tf.case(x)
must be callable | tf.case([(p, lambda: x)], default=x)
Each entry in pred_fn_pairs must be a 2-tuple | tf.case([p])
Each entry in pred_fn_pairs must be a 2-tuple | tf.case([[p, lambda: x]])
Each entry in pred_fn_pairs must be a 2-tuple | tf.case([(p, lambda: x, x)])
pred must be Tensor of type bool: x:0 | tf.case([(x, lambda: x)])
pred must be Tensor of type bool: x:0 | tf.case({x: lambda: x})
pred must be a Tensor, got: True | tf.case([(True, lambda: x)])
pred must be a Tensor, got: None | tf.case([(None, lambda: x)])
fn for pred p:0 must be callable. | tf.case([(p, x)])
fn for pred p:0 must be callable. | tf.case([(p, None)])
must have the same type: int32, float32 | tf.case([(p, lambda: x), (q, lambda: n)], lambda: x)
must have the same type: float32, int32 | tf.case([(p, lambda: x), (q, lambda: x)], lambda: n)
don't have the same nested structure | tf.case([(p, lambda: x), (q, lambda: (x, x))], lambda: x)
true_fn must have a return value. | tf.case([(p, lambda: None), (q, lambda: x)], lambda: x)
rank 0 | tf.case([(tf.constant([True, True]), lambda: x)], lambda: x)
None of conditions evaluated as True | tf.case([(f, lambda: x + 1.)])
None of conditions evaluated as True | tf.case({f: lambda: x + 1.}, exclusive=True)
more than 1 conditions (p:0, q:0) evaluated as True | tf.case([(p, lambda: x), (q, lambda: x)], lambda: x, exclusive=True)

cond must be callable. | W(x, lambda i: i, [x])
cond must be callable. | W(None, lambda i: i, [x])
body must be callable. | W(lambda i: i < 3., x, [x])
No loop variables provided | W(lambda: p, lambda: x, [])
No loop variables provided | W(lambda: p, lambda: x, {})
No loop variables provided | W(lambda: p, lambda: x, None)
parallel_iterations must be a positive integer. | W(lambda i: f, lambda i: i, [x], parallel_iterations=0)
parallel_iterations must be a positive integer. | W(lambda i: f, lambda i: i, [x], parallel_iterations=-1)
parallel_iterations` must be a positive integer: 1.5 | W(lambda i: f, lambda i: i, [x], parallel_iterations=1.5)
 | W(lambda i: f, lambda i: i, [x], parallel_iterations=None)
missing 1 required positional argument: 'j' | W(lambda i: f, lambda i, j: i, [x])
missing 1 required positional argument: 'j' | W(lambda i, j: f, lambda i: i, [x])
None values not supported | W(lambda i: f, lambda i: None, [x])
None values not supported | W(lambda i, j: f, lambda i, j: (i, None), [x, x])
None | W(lambda i: None, lambda i: i, [x])
'input' of 'LoopCond' Op has type float32 that does not match | W(lambda i: i, lambda i: i, [x])
rank 0 | W(lambda i: [i < 3.], lambda i: i, [x])
rank 0 | W(lambda i: tf.constant([True, True]), lambda i: i, [x])
 | W(lambda i: unknown([True, True]), lambda i: i, [x])
don't have the same number of elements | W(lambda i: f, lambda i: (i, i), [x])
don't have the same number of elements | W(lambda i, j: f, lambda i, j: i, [x, x])
don't have the same number of elements | W(lambda i, j: f, lambda i, j: (i, j, j), [x, x])
is a sequence, while | W(lambda i, j: f, lambda i, j: (i, [j]), [x, x])
is a sequence, while | W(lambda i: f, lambda i: i[0], [[x, x]])
don't have the same sequence type | W(lambda i, j: f, lambda i, j: (i, (j[0],)), [x, [x]])
don't have the same set of keys | W(lambda i, j: f, lambda i, j: (i, {"b": j["a"]}), [x, {"a": x}])
Input tensor 'v:0' enters the loop with shape (2,), but has shape (4,) after one iteration. | W(lambda i: f, lambda i: tf.concat([i, i], 0), [v])
Input tensor 'x:0' enters the loop with shape (), but has shape (1,) after one iteration. | W(lambda i: f, lambda i: tf.expand_dims(i, 0), [x])
Input tensor 'v:0' enters the loop with shape (2,), but has shape <unknown> after one iteration. | W(lambda i: f, lambda i: unknown([1., 2.]), [v])
enters the loop with shape (2,), but has shape (4,) after | W(lambda i: f, lambda i: tf.concat([i, i], 0), [v], [S([2])])
enters the loop with shape (2,), but has shape (1, ?) after | W(lambda i: f, lambda i: tf.expand_dims(i, 0), [v], [S([None])])
use the `shape_invariants` argument of tf.while_loop | W(lambda i: f, lambda i: i[:1], [v])
It enters the loop with shape (2,), but the specified shape invariant is (3,). | W(lambda i: f, lambda i: i, [v], [S([3])])
It enters the loop with shape (2,), but the specified shape invariant is (?, ?). | W(lambda i: f, lambda i: i, [v], [S([None, None])])
It enters the loop with shape <unknown>, but the specified shape invariant is (1,). | W(lambda i: f, lambda i: i, [unknown([1.])], [S([1])])
The shape invariant specified for TensorArray:1 is not compatible | W(lambda i, a: f, lambda i, a: (i, a), [0, TA(F, 3)], [S([]), S([3])])
`shapes` must be a (possibly nested) list of shapes | W(lambda i: f, lambda i: i, [v], [2])
`shapes` must be a (possibly nested) list of shapes | W(lambda i: f, lambda i: i, [v], ["a"])
is a sequence, while | W(lambda i: f, lambda i: i, [v], [[2]])
is a sequence, while | W(lambda i: f, lambda i: i, [v], S([2]))
is a sequence, while | W(lambda i, j: f, lambda i, j: (i, j), [v, [v]], [S([2]), S([2])])
don't have the same number of elements | W(lambda i: f, lambda i: i, [v], [])
don't have the same number of elements | W(lambda i, j: f, lambda i, j: (i, j), [v, v], [S([2])])
don't have the same sequence type | W(lambda i, j: f, lambda i, j: (i, j), [v, v], (S([2]), S([2])))
 | W(lambda i: f, lambda i: i, [n], maximum_iterations="a")
 | W(lambda i: f, lambda i: i, [n], maximum_iterations=True)
maximum_iterations must be a scalar, saw shape: (1,) | W(lambda i: f, lambda i: i, [n], maximum_iterations=[1])
maximum_iterations must be a scalar, saw shape: <unknown> | W(lambda i: f, lambda i: i, [n], maximum_iterations=unknown(3))
don't have the same sequence type | W(lambda i, j: f, lambda i, j: (i, j), Pair(v, v), maximum_iterations=3)
Cannot use 'while/add' | same(W(lambda i: f, lambda i: leak(i + 1), [n]), lambda _: W(lambda j: f, lambda j: j + leaked[0], [n]))
None values not supported | W(lambda i: f, lambda i: tf.gradients(W(lambda j: f, lambda j: j, [n]), n)[0], [n])

Tried to write to index 2 but array is not resizeable and size is: 1 | W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, 1.)), [n, TA(F, 1)])[1].stack()
Could not write to TensorArray index 0 because it has already been written to | W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(0, 1.)), [0, TA(F, 3)])[1].stack()
trying to write dtype int32 | W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, n)), [0, TA(F, 3)])[1].stack()
Tried to read from index 3 but array size is: 3 | same(array(), lambda a: W(lambda i, s: i < 4, lambda i, s: (i + 1, s + a.read(i)), [0, 0.])[1])
Could not read index 0 twice because it was cleared after a previous read | same(array(), lambda a: W(lambda i, s: i < 2, lambda i, s: (i + 1, s + a.read(0)), [0, 0.])[1])
Could not write to TensorArray index 1 | W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i], 1.))), [0, TA(F, 3)])[1].stack()
inconsistent shapes | W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i + 1], 1.))), [0, TA(F, 3, infer_shape=False)])[1].stack()
rank 0 | TA(F, [2])
'nothing' | TA("nothing", 2)
got 'a' | TA(F, "a")
got 0.5 | TA(F, 2).write(0.5, 1.)
None | TA(F, 2).write(0, None)
trying to write dtype string | TA(F, 2).write(0, "a").flow
slice index 0 of dimension 0 out of bounds | TA(F, 2).unstack(1.)
rank 1 | TA(F, 2).split([1., 2.], 2)

fn must be callable. | tf.map_fn(x, v)
None | tf.map_fn(lambda e: e, None)
1+ dimensional Tensor | tf.map_fn(lambda e: e, x)
elements in elems must be 1+ dimensional Tensors, not scalars | tf.map_fn(lambda e: e, [x, x])
Dimensions 2 and 3 are not compatible | tf.map_fn(lambda e: e, (v, w))
is a sequence, while | tf.map_fn(lambda e: (e, e), v)
is a sequence, while | tf.map_fn(lambda e: e, v, dtype=(F, F))
is a sequence, while | tf.map_fn(lambda e: e[0], (v, v))
don't have the same sequence type | tf.map_fn(lambda e: [e[0], e[1]], (v, v))
trying to write dtype int32 | tf.map_fn(lambda e: tf.cast(e, "int32"), v)
dtype is int32 but | tf.map_fn(lambda e: e, v, dtype="int32")
None | tf.map_fn(lambda e: None, v)
missing 1 required positional argument: 'g' | tf.map_fn(lambda e, g: e, (v, v))
takes 0 positional arguments but 1 was given | tf.map_fn(lambda: x, v)
Could not write to TensorArray index 1 | tf.map_fn(lambda e: tf.fill([tf.cast(e, "int32")], 1.), v)
inconsistent shapes | tf.map_fn(lambda e: tf.fill([tf.cast(e, "int32")], 1.), v, infer_shape=False)
has size zero, but element shape <unknown> is not fully defined | tf.map_fn(lambda e: e, unknown(np.zeros([0])))
slice index 0 of dimension 0 out of bounds | tf.map_fn(lambda e: e, unknown(1.))
fn must be callable. | tf.foldl(x, v)
is a sequence, while | tf.foldl(lambda a, e: (a, a), v)
enters the loop with shape (), but has shape (2,) after one iteration | tf.foldl(lambda a, e: v, v)
None values not supported | tf.foldl(lambda a, e: None, v)
takes 1 positional argument but 2 were given | tf.foldl(lambda a: a, v)
parallel_iterations must be a positive integer. | tf.foldl(lambda a, e: a, v, parallel_iterations=0)
Tried to read from index 0 but array size is: 0 | tf.foldl(lambda a, e: a + e, tf.zeros([0]))
fn must be callable. | tf.foldr(x, v)
is a sequence, while | tf.foldr(lambda a, e: (a, a), v)
Tried to read from index -1 but array size is: 0 | tf.foldr(lambda a, e: a + e, tf.zeros([0]))
fn must be callable. | tf.scan(x, v)
Dimensions 2 and 3 are not compatible | tf.scan(lambda a, e: a, (v, w))
is a sequence, while | tf.scan(lambda a, e: a[0], (v, v))
don't have the same sequence type | tf.scan(lambda a, e: [a[0], a[0]], (v, v))
 | tf.scan(lambda a, e: v, v, initializer=w)
Tried to read from index 0 but array size is: 0 | tf.scan(lambda a, e: a + e, tf.zeros([0]))

Expected func to be callable, got func of type | py(None)
0-th value returned by | py(lambda: 1.5)
is string, but expects | py(lambda: "a")
returns 1 values, but expects to see 2 values | py(lambda: np.float32(1), [F, F])
returns 3 values, but expects to see 2 values | py(lambda: [np.float32(1)] * 3, [F, F])
returns 2 values, but expects to see 1 values | py(lambda: [[1.], [1., 2.]])
returns 0 values, but expects to see 1 values | py(lambda: None)
returns 1 values, but expects to see 0 values | py(lambda: np.float32(1), [])
Unsupported object type object | py(lambda: object())
Unsupported object type dict | py(lambda: {})
Unsupported numpy type | py(lambda: np.datetime64("2000"))
NotImplementedError | py(lambda: x)
TypeError: <lambda>() missing 1 required positional argument: 'y' | py(lambda y: y)
IndexError: list index out of range | py(lambda: [][1])
ZeroDivisionError: division by zero | py(lambda: 1 / 0)
NameError: name 'undefined' is not defined | py(lambda: undefined)
ArithmeticError: some words | py(raising(ArithmeticError))
AssertionError: some words | py(raising(AssertionError))
AttributeError: some words | py(raising(AttributeError))
BufferError: some words | py(raising(BufferError))
ConnectionError: some words | py(raising(ConnectionError))
EOFError: some words | py(raising(EOFError))
FileNotFoundError: some words | py(raising(FileNotFoundError))
FloatingPointError: some words | py(raising(FloatingPointError))
ImportError: some words | py(raising(ImportError))
IndexError: some words | py(raising(IndexError))
InterruptedError: some words | py(raising(InterruptedError))
KeyError: 'some words' | py(raising(KeyError))
LookupError: some words | py(raising(LookupError))
MemoryError: some words | py(raising(MemoryError))
NameError: some words | py(raising(NameError))
NotImplementedError: some words | py(raising(NotImplementedError))
OSError: some words | py(raising(OSError))
OverflowError: some words | py(raising(OverflowError))
PermissionError: some words | py(raising(PermissionError))
RecursionError: some words | py(raising(RecursionError))
ReferenceError: some words | py(raising(ReferenceError))
RuntimeError: some words | py(raising(RuntimeError))
StopAsyncIteration: some words | py(raising(StopAsyncIteration))
StopIteration: some words | py(raising(StopIteration))
SystemError: some words | py(raising(SystemError))
TimeoutError: some words | py(raising(TimeoutError))
TypeError: some words | py(raising(TypeError))
UnicodeError: some words | py(raising(UnicodeError))
ValueError: some words | py(raising(ValueError))
ZeroDivisionError: some words | py(raising(ZeroDivisionError))
"""  # noqa: E501  one call, one line

# Calls that fail otherwise here, or do not fail: the class of our error, or our value, and why.
OTHERWISE = {
    "W(lambda i: f, lambda i: n, [x])":
        ("TypeError", "told when the loop is built, with the variable's name, not by a step"),
    "W(lambda i: f, lambda i: 1.5, [n])": ("TypeError", "the same"),
    "tf.foldl(lambda a, e: n, v)": ("TypeError", "the same"),
    "tf.scan(lambda a, e: n, v)": ("TypeError", "the same"),
    "W(lambda i: f, lambda i: i, [None])":
        ("ValueError", "there it is an AttributeError from within"),
    "W(lambda i: f, lambda i: i, [x], parallel_iterations=n)":
        ("TypeError", "a subclass of it there, for all tensors that are asked for their truth"),
    "W(lambda i: f, lambda i: i, x)":
        (3.0, "a single variable may stand without its list; there it cannot"),
    'W(lambda d: f, lambda d: d, {"a": x})["a"]':
        (3.0, "the variables may be a dict; there its keys go round instead of its values"),
    "W(lambda i: f, lambda i: i, [x], [S(None)], maximum_iterations=3)":
        (3.0, "the counter takes no part in the structure of the invariants"),
    "W(lambda i: f, lambda i: i, [x], maximum_iterations=3, return_same_structure=True)[0]":
        (3.0, "... nor in that of the results"),
    "W(lambda i, j: f, lambda i, j: (i, j), [x, x], maximum_iterations=3)[0]":
        (3.0, "... and a body may give a tuple for a list, as it may without a maximum"),
    "tf.case([], lambda: x)": (3.0, "a default is enough"),
    "same(W(lambda i: f, lambda i: leak(i + 1), [n]), lambda _: leaked[0] + 1)":
        ("InvalidArgumentError", "told when the step is compiled, not when the node is made"),
    "same(W(lambda i: f, lambda i: leak(i + 1), [n]), lambda _: run(leaked[0]))":
        ("ValueError", "a subclass of it there, which nobody can catch by a public name"),
    "W(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i], 1.))), "
    "[0, TA(F, 3, infer_shape=False)])[1].stack()":
        ("InvalidArgumentError", "there an empty first element hides that the others have another "
         "shape: what comes is empty"),
    "tf.map_fn(lambda e: e, [])": ("ValueError", "there it is an IndexError from within"),
    "tf.foldl(lambda a, e: a, [])": ("ValueError", "the same"),
    "tf.foldl(lambda a, e: a, x)": ("ValueError", "the same"),
    "tf.foldr(lambda a, e: a, x)": ("ValueError", "the same"),
    "tf.scan(lambda a, e: a, x)": ("ValueError", "the same"),
    "tf.foldl(lambda a, e: a, (v, w))":
        ("ValueError", "told when the loop is built, as map_fn does, not by its first step"),
    "tf.foldr(lambda a, e: a, (v, w))": ("ValueError", "the same"),
    "TA(F, 2).split([1., 2.], [[1, 1]])":
        ("ValueError", "a wrong rank, as for a scalar; there a TypeError of NumPy's"),
    "tf.py_func(np.sin, [x], F)":
        (0.14112, "any callable is taken, also one that has no weak references"),
}  # fmt: skip

# Calls whose structures, types, static shapes, values and nodes are compared.
BRANCHES = """
tf.cond(p, lambda: x, lambda: v[0])
tf.cond(p, lambda: [x], lambda: x)
tf.cond(p, lambda: (x,), lambda: [x])
tf.cond(p, lambda: [x], lambda: [x])
tf.cond(p, lambda: [x], lambda: [x], strict=True)
tf.cond(p, lambda: (x,), lambda: (x,), strict=True)
tf.cond(p, lambda: [[x]], lambda: [[x]])
tf.cond(p, lambda: [[x, n]], lambda: [[x, n]])
tf.cond(p, lambda: One(x), lambda: One(x))
tf.cond(p, lambda: Pair(x, [n]), lambda: Pair(x, [n]))
tf.cond(p, lambda: {"b": x, "a": (n, v)}, lambda: {"a": (n, v), "b": x})
tf.cond(p, lambda: x.op, lambda: x.op)
tf.cond(p, lambda: [tf.no_op(), x], lambda: [tf.no_op(), x])
tf.cond(p, lambda: (x.op, {"a": x}), lambda: (x.op, {"a": x}))
tf.cond(p, lambda: 1, lambda: n)
tf.cond(np.bool_(True), lambda: x, lambda: x)
tf.cond(unknown(True), lambda: x, lambda: x)
tf.cond(p, lambda: tf.ones([2]), lambda: tf.ones([3]))
tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.ones([2, 4]))
tf.cond(p, lambda: tf.ones([2]), lambda: tf.ones([2, 3]))
tf.cond(p, lambda: unknown([1.]), lambda: tf.ones([2]))
tf.cond(p, lambda: unknown([1.], [None]), lambda: tf.ones([1]))
tf.cond(p, lambda: unknown([1.], [None]), lambda: unknown([2.], [None]))
tf.cond(f, lambda: tf.cond(p, lambda: v, lambda: w), lambda: tf.cond(p, lambda: v, lambda: v + 1.))
tf.case([(f, lambda: [x]), (p, lambda: x)], lambda: x * 2.)
tf.case([(p, lambda: [x])], lambda: [x], strict=True)
tf.case([(f, lambda: v), (p, lambda: w)], lambda: tf.ones([4]))
"""

LOOPS = """
W(lambda i: f, lambda i: i, [v])
W(lambda i: i < 3, lambda i: i + 1, [0])
W(lambda i: f, lambda i: i, (v,), return_same_structure=True)
W(lambda i: f, lambda i: (i,), [v], return_same_structure=True)
W(lambda i: f, lambda i: [i], [[v]])
W(lambda i: f, lambda i: [i], [[v, x]])
W(lambda i, j: f, lambda i, j: [i, j], (v, x))
W(lambda i, j: f, lambda i, j: (i, j), [v, x], return_same_structure=True)
W(lambda i, j: f, lambda i, j: Pair(i, j), Pair(v, x))
W(lambda i, j: f, lambda i, j: (i, {"b": j["b"], "a": [j["a"][0]]}), (v, {"a": [x], "b": n}))
W(lambda i, j: i < 2, lambda i, j: (i + 1, [Pair(j[0][1] * 2., j[0][0])]), [0, [Pair(x, x)]])
W(lambda i, j: i < 9, lambda i, j: [i + 1, j * 2.], [0, x], maximum_iterations=3)
W(lambda i, j: i < 2, lambda i, j: [i + 1, j * 2.], [0, x], maximum_iterations=9)
W(lambda i, j: i < 2, lambda i, j: (i + 1, j * 2.), (0, x), maximum_iterations=tf.constant(1, "int64"))
W(lambda i, j: i < 9, lambda i, j: (i + 1, j * 2.), (0, x), maximum_iterations=1.5)
W(lambda i, j: i < 9, lambda i, j: (i + 1, j * 2.), (0, x), maximum_iterations=0)
W(lambda i: i < 9, lambda i: i + 1, [0], maximum_iterations=2)
W(lambda i, j: i < 2, lambda i, j: (i + 1, j * 2.), [0, x], swap_memory=True, back_prop=False, parallel_iterations=1)
W(lambda i: f, lambda i: i, [v], [S([None])])
W(lambda i: f, lambda i: i, [v], [S(None)])
W(lambda i: f, lambda i: i, [v], [None])
W(lambda i: f, lambda i: i, [v], [v.shape])
W(lambda i, j: f, lambda i, j: (i, j), (0, v), (S([]), None))
W(lambda i, j: f, lambda i, j: (i, j), [0, {"a": v}], [S([]), {"a": S([None])}])
W(lambda i, j: f, lambda i, j: (i, j), [0, Pair(v, v)], [S([]), Pair(S([None]), S([2]))])
W(lambda i, a: f, lambda i, a: (i, a), [0, TA(F, 3)], [S([]), S([])])[0]
W(lambda i, a: f, lambda i, a: (i, a), [0, TA(F, 3)], [S([]), S(None)])[0]
W(lambda i: i < 3., lambda i: unknown(5.), [x], [S(None)])
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.concat([j, j], 0)), [0, v], [S([]), S([None])])
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.concat([j, j], 0)), (0, unknown([[1., 2.]], [1, 2])), (S([]), S([None, 2])), maximum_iterations=3)
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.expand_dims(j, 0)), [0, v], [S([]), S(None)])
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.ones([2])), [0, v], [S([]), S([None])])
W(lambda i, j: i < 2, lambda i, j: (i + 1, j), [0, unknown([1., 2.], [None])])
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.ones([2])), [0, unknown([1., 2.], [None])])
W(lambda i, j: i < 2, lambda i, j: (i + 1, unknown([1., 2.], [2])), [0, unknown([1., 2.])])
W(lambda i, j: i < 2, lambda i, j: (i + 1, W(lambda k: tf.reduce_sum(k) < 9., lambda k: k * 2., [j])), [0, v])
W(lambda i, j: i < 2, lambda i, j: (i + 1, tf.cond(p, lambda: j, lambda: tf.ones([3]))), [0, v], [S([]), S([None])])
"""  # noqa: E501

# The same without nodes: TensorFlow finds out how many elements there are even if it is known.
ELEMENTS = """
tf.map_fn(lambda e: e * 2., w)
tf.map_fn(lambda e: 1, w)
tf.map_fn(lambda e: e * 2., unknown([[1., 2.]], [None, 2]))
tf.map_fn(lambda e: e * 2., unknown([[1., 2.]]))
tf.map_fn(lambda e: (e, e * 2.), w, dtype=(F, F))
tf.map_fn(lambda e: {"b": e, "a": [n]}, w, dtype={"a": ["int32"], "b": F})
tf.map_fn(lambda e: e[0] + e[1], (w, w), dtype=F)
tf.map_fn(lambda e: e["a"] + e["b"], {"a": w, "b": w}, dtype=F)
tf.map_fn(lambda e: Pair(e.second, e.first), Pair(w, w))
tf.map_fn(lambda e: e, tf.zeros([0, 2]))
tf.map_fn(lambda e: tf.ones([3]) * e, v)
tf.map_fn(lambda e: e, w, parallel_iterations=1, back_prop=False, swap_memory=True, infer_shape=False)
tf.map_fn(lambda e: e[0], (unknown([1., 2.]), unknown([1., 2., 3.])), dtype=F)
tf.foldl(lambda a, e: a - e, w)
tf.foldl(lambda a, e: a - e, w, 10.)
tf.foldl(lambda a, e: a - e[0] * e[1], (w, w), initializer=0.)
tf.foldl(lambda a, e: (a[0] + e, a[1] * e), w, initializer=(0., 1.))
tf.foldl(lambda a, e: a, tf.zeros([0]), initializer=x)
tf.foldl(lambda a, e: {"s": a["s"] + e}, unknown([1., 2.], [None]), initializer={"s": x})
tf.foldr(lambda a, e: a - e, w)
tf.foldr(lambda a, e: a - e, w, initializer=0.)
tf.foldr(lambda a, e: a - e, unknown([1., 2., 4.]))
tf.scan(lambda a, e: a - e, w)
tf.scan(lambda a, e: a - e, w, reverse=True)
tf.scan(lambda a, e: a - e, w, initializer=10.)
tf.scan(lambda a, e: a - e, w, initializer=10., reverse=True)
tf.scan(lambda a, e: a + e, unknown([1., 2.], [None]))
tf.scan(lambda a, e: a + e, unknown([1., 2.], [2]), initializer=1.)
tf.scan(lambda a, e: (a[0] + e, a[1] * 2.), w, initializer=(0., x))
tf.scan(lambda a, e: {"s": a["s"] + e}, w, initializer={"s": x}, reverse=True)
tf.scan(lambda a, e: a + e, tf.zeros([0]), initializer=x)
tf.scan(lambda a, e: a + e, unknown(np.zeros([0, 2]), [None, 2]), initializer=v)
tf.scan(lambda a, e: [a[0] + e[1], a[1]], [w, w])
"""  # noqa: E501


def environment(tf):
    """Return the names that the calls use, in the default graph."""
    leaked = []

    def unknown(value, shape=None):
        value = np.asarray(value)
        defaults = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}
        value = value.astype(defaults.get(value.dtype, value.dtype))
        return tf.placeholder_with_default(value, shape)

    def leak(value):
        leaked.append(value)
        return value

    def same(value, function):
        return function(value)

    def run(value):
        with tf.Session() as session:
            return session.run(value)

    def array():
        return tf.TensorArray("float32", 3).unstack([1.0, 2.0, 3.0])

    def py(function, types="float32"):
        return tf.py_func(function, [], types)

    def raising(error):
        def fail():
            raise error("some words")

        return fail

    x, n = tf.constant(3.0, name="x"), tf.constant(2, name="n")
    v, w = tf.constant([1.0, 2.0], name="v"), tf.constant([1.0, 2.0, 3.0], name="w")
    p, q, f = (
        tf.placeholder_with_default(value, [], name=name)
        for value, name in ((True, "p"), (True, "q"), (False, "f"))
    )
    names = {"W": tf.while_loop, "TA": tf.TensorArray, "F": "float32", "S": tf.TensorShape}
    return dict(locals(), np=np, Pair=Pair, One=One, **names)


def failure(tf, source):
    """Return the class of a call's error, and its message, or the value that comes instead."""
    with tf.Graph().as_default():
        try:
            made = eval(source, environment(tf))
            with tf.Session() as session:
                return None, plain(session.run(made))
        except Exception as error:
            return type(error).__name__, getattr(error, "message", None) or str(error)


def result(tf, source):
    """Return what a call gives: structure, types and static shapes, values, and nodes by name."""
    with tf.Graph().as_default() as graph:
        names = environment(tf)
        before = len(graph.get_operations())
        made = eval(source, names)
        nodes = [op.name + " " + op.type for op in graph.get_operations()[before:]]
        with tf.Session() as session:
            values = session.run(made)
    found = {"form": form(made, static), "values": form(values, plain)}
    return found if source in calls(ELEMENTS) else dict(found, nodes=" | ".join(sorted(nodes)))


def form(structure, of_leaf):
    """Return a structure as JSON can hold it: kinds and parts."""
    if isinstance(structure, dict):
        return ["dict", [[key, form(structure[key], of_leaf)] for key in sorted(structure)]]
    if isinstance(structure, (list, tuple)):
        return [type(structure).__name__, [form(each, of_leaf) for each in structure]]
    return of_leaf(structure)


def rows():
    """Yield (phrase, call) of all that fail."""
    for row in calls(ERRORS):
        phrase, _, source = row.partition(" | ")
        yield phrase, source


def errors(tf):
    """Return the class of each wrong call's error, with the phrase if its message has it."""
    found = {}
    for phrase, source in rows():
        kind, message = failure(tf, source)
        found[source] = [kind, phrase if kind and phrase in message else None]
    for source in OTHERWISE:
        found[source] = failure(tf, source)[:1]
    return found


def results(tf):
    """Return what comes of each right call."""
    return {source: result(tf, source) for source in calls(BRANCHES + LOOPS + ELEMENTS)}


def real(command):
    """Return what a real TensorFlow makes of everything; `command` runs its Python."""
    words = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005  Python 3.7
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode().strip().splitlines()[-1])


def store(command):
    """Write what the comparison is made with where no real TensorFlow is."""
    said = real(command)
    for path, part in ((ERRORS_THERE, "errors"), (RESULTS_THERE, "results")):
        lines = [
            json.dumps(key) + ": " + json.dumps(row, separators=(",", ":"))
            for key, row in said[part].items()
        ]
        with open(path, "w") as file:
            file.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    """Store what the command says, or say it."""
    if len(sys.argv) > 1:
        store(sys.argv[1])
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    print(json.dumps({"errors": errors(tf), "results": results(tf)}))


if __name__ == "__main__":
    main()

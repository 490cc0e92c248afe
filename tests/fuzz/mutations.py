"""Mutations: a recorded message as a careless, broken or hostile program would send it.

Bytes are changed without regard to what they mean; messages are changed field by field, so that
most of what is left is still understood and errors reach the inner floors.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import DecodeError

# Ops that end the process, write files or call Python: nobody's mutation may reach them.
FORBIDDEN = ("Abort", "Write", "Save", "Merge", "PyFunc", "Summary", "Writer", "Snapshot", "Cache")

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    127,
    128,
    255,
    65_537,
    2**31 - 1,
    -(2**31),
    2**32,
    2**63 - 1,
    -(2**63),
)
REALS = (0.0, -0.0, 1e-45, 1e300, -1e300, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "", "^", ":", ":0", "a:-1", "x:0:0", "^^x", "x:99999999999999999999", "/", "../..", " ", "\n",
    "\0", "é", "名", "x" * 3000, "/job:a/replica:0/task:0/device:CPU:0", "/job:nobody/task:7",
    "/device:GPU:0", "/cpu:0", "/job:a/task:-1", "loc:@x", "_", "%s%n", "{}", "0:0", ";;;;",
)  # fmt: skip
BYTES = (b"", b"\xff", b"\x80abc", b"\0", b"loc:@", b"loc:@\xff", b"x" * 5000, b"NHWC", b"/cpu:0")

Mutate = Callable[[random.Random, Any], None]
Place = tuple[Any, Field]  # a message, and one of its fields that is set


def mutated_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return `data` with one to eight changes of its bytes."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        rng.choice(_BYTE_CHANGES)(rng, found)
    return bytes(found)


def _flip(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _drop(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(1, 9)]


def _repeat(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = data[at : at + rng.randrange(1, 33)]


def _insert(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.randrange(1, 9))


_BYTE_CHANGES = (_flip, _flip, _set, _set, _cut, _drop, _repeat, _insert)


def mutate(rng: random.Random, message: Any) -> str:
    """Change a message in one to three places; returns what was done, for whoever reads it."""
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(_CHANGES)
        try:
            what = change(rng, message)
        except DecodeError:  # protobuf copies nothing that is as deep as an earlier change made it
            what = "nothing"
        done.append(f"{change.__name__.strip('_')}: {what}")
    return "; ".join(done)


def places(message: Any, depth: int = 0) -> Iterator[Place]:
    """Yield every field that is set, here and in what is inside."""
    for field, value in message.ListFields():
        yield message, field
        if field.type != Field.TYPE_MESSAGE or depth > 40:
            continue
        for inner in _messages(field, value):
            yield from places(inner, depth + 1)


def _messages(field: Field, value: Any) -> list[Any]:
    if _is_map(field):
        holds_messages = field.message_type.fields_by_name["value"].type == Field.TYPE_MESSAGE
        return list(value.values()) if holds_messages else []
    return list(value) if field.is_repeated else [value]


def _is_map(field: Field) -> bool:
    inner = field.message_type
    return inner is not None and inner.GetOptions().map_entry


def _any_place(rng: random.Random, message: Any, of: Callable[[Field], bool]) -> Place | None:
    """Return a random place; kinds of fields are equally likely, however often each occurs."""
    found: dict[str, list[Place]] = {}
    for place in places(message):
        if of(place[1]):
            found.setdefault(place[1].full_name, []).append(place)
    return rng.choice(found[rng.choice(sorted(found))]) if found else None


def _remove(rng: random.Random, message: Any) -> str:
    """Clear a field, or take one element of it away."""
    place = _any_place(rng, message, lambda field: True)
    if place is None:
        return "nothing"
    holder, field = place
    values = getattr(holder, field.name)
    if _is_map(field):
        del values[rng.choice(sorted(values))]
    elif field.is_repeated:
        del values[rng.randrange(len(values))]
    else:
        holder.ClearField(field.name)
    return field.full_name


def _duplicate(rng: random.Random, message: Any) -> str:
    """Have an element of a repeated field twice, or many times."""
    place = _any_place(rng, message, lambda field: field.is_repeated and not _is_map(field))
    if place is None:
        return "nothing"
    holder, field = place
    values = getattr(holder, field.name)
    values.extend([values[rng.randrange(len(values))]] * rng.choice((1, 1, 1, 300)))
    return field.full_name


def _shuffle(rng: random.Random, message: Any) -> str:
    """Exchange two elements of a repeated field."""
    place = _any_place(rng, message, lambda field: field.is_repeated and not _is_map(field))
    if place is None:
        return "nothing"
    holder, field = place
    values = list(getattr(holder, field.name))
    rng.shuffle(values)
    copies = copy.deepcopy(values)
    holder.ClearField(field.name)
    getattr(holder, field.name).extend(copies)
    return field.full_name


_STRINGS = (Field.TYPE_STRING, Field.TYPE_BYTES)


def _text(rng: random.Random, message: Any) -> str:
    """Put another string: nonsense, or one that stands elsewhere in the message."""
    place = _any_place(rng, message, lambda field: field.type in _STRINGS)
    if place is None:
        return "nothing"
    holder, field = place
    known = [
        each
        for other, its in places(message)
        if its.type == field.type
        for each in (getattr(other, its.name) if its.is_repeated else [getattr(other, its.name)])
    ]
    pool = (TEXTS if field.type == Field.TYPE_STRING else BYTES) if rng.random() < 0.6 else known
    return f"{field.full_name} = {_put(rng, holder, field, rng.choice(pool))!r:.60}"


_REAL = (Field.TYPE_DOUBLE, Field.TYPE_FLOAT)
_WHOLE = {
    Field.TYPE_INT32: (-(2**31), 2**31 - 1), Field.TYPE_INT64: (-(2**63), 2**63 - 1),
    Field.TYPE_UINT32: (0, 2**32 - 1), Field.TYPE_UINT64: (0, 2**64 - 1),
    Field.TYPE_FIXED64: (0, 2**64 - 1), Field.TYPE_ENUM: (-(2**31), 2**31 - 1),
}  # fmt: skip


def _number(rng: random.Random, message: Any) -> str:
    """Put another number, an extreme one mostly; of an enum perhaps one that nobody knows."""
    kinds = (*_REAL, *_WHOLE, Field.TYPE_BOOL)
    place = _any_place(rng, message, lambda field: field.type in kinds)
    if place is None:
        return "nothing"
    holder, field = place
    if field.type == Field.TYPE_BOOL:
        return f"{field.full_name} = {_put(rng, holder, field, rng.random() < 0.5)}"
    if field.type in _REAL:
        return f"{field.full_name} = {_put(rng, holder, field, rng.choice(REALS))}"
    low, high = _WHOLE[field.type]
    pool = [each for each in NUMBERS if low <= each <= high]
    if field.type == Field.TYPE_ENUM and rng.random() < 0.7:
        pool = [*range(26), 101, 114, 126, 9999]
    return f"{field.full_name} = {_put(rng, holder, field, rng.choice(pool))}"


def _put(rng: random.Random, holder: Any, field: Field, value: Any) -> Any:
    if field.is_repeated:
        values = getattr(holder, field.name)
        values[rng.randrange(len(values))] = value
    else:
        setattr(holder, field.name, value)
    return value


def _found(message: Any, full_name: str) -> list[Any]:
    """Return all messages of one kind in a message."""
    found = [message] if type(message).DESCRIPTOR.full_name == full_name else []
    for holder, field in places(message):
        if field.type == Field.TYPE_MESSAGE:
            for inner in _messages(field, getattr(holder, field.name)):
                if type(inner).DESCRIPTOR.full_name == full_name:
                    found.append(inner)
    return found


def _attr(rng: random.Random, message: Any) -> str:
    """Give an attribute a value of another kind."""
    attrs = _found(message, "tensorflow.AttrValue")
    if not attrs:
        return "nothing"
    attr = rng.choice(attrs)
    kind = rng.choice(
        ["s", "i", "f", "b", "type", "shape", "tensor", "list", "func", "placeholder"]
    )
    other = rng.choice(attrs)
    if rng.random() < 0.4:
        attr.CopyFrom(copy.deepcopy(other))
    elif kind == "list":
        inner = copy.deepcopy(attr)
        attr.list.SetInParent()
        _grow_list(rng, attr.list, inner)
    elif kind == "func":
        attr.func.name = rng.choice(["", "no such function", *_functions(message)])
    else:
        _fill_kind(rng, attr, kind)
    return kind


def _grow_list(rng: random.Random, values: Any, inner: Any) -> None:
    field = inner.WhichOneof("value")
    for part in {rng.choice("sifb"), field} & {"s", "i", "f", "b", "type"}:
        getattr(values, part).extend([getattr(inner, part)] * rng.randrange(1, 4))


def _functions(message: Any) -> list[str]:
    return [each.signature.name for each in _found(message, "tensorflow.FunctionDef")]


def _fill_kind(rng: random.Random, attr: Any, kind: str) -> None:
    values = {
        "s": rng.choice(BYTES), "i": rng.choice(NUMBERS), "f": rng.choice(REALS),
        "b": rng.random() < 0.5, "type": rng.choice([0, 1, 3, 7, 9, 20, 21, 101, 9999]),
        "placeholder": rng.choice(["", "T", "x"]),
    }  # fmt: skip
    if kind in values:
        setattr(attr, kind, values[kind])
    elif kind == "shape":
        for _ in range(rng.choice((0, 1, 2, 300))):
            attr.shape.dim.add(size=rng.choice(NUMBERS))
        attr.shape.unknown_rank = rng.random() < 0.3
    else:
        attr.tensor.dtype = rng.randrange(25)
        attr.tensor.tensor_content = rng.choice(BYTES)


def _op(rng: random.Random, message: Any) -> str:
    """Let a node be of another op: one of another node, or any that is known."""
    nodes = _found(message, "tensorflow.NodeDef")
    if not nodes:
        return "nothing"
    ops = [node.op for node in nodes]
    node = rng.choice(nodes)
    node.op = rng.choice(ops if rng.random() < 0.4 else [*_known_ops(), "", "NoSuchOp", "_", "名"])
    return f"{node.name} = {node.op}"


def _known_ops() -> list[str]:
    from tfdist.graph.op_def import REGISTRY

    return [name for name in sorted(REGISTRY) if not any(bad in name for bad in FORBIDDEN)]


def _rewire(rng: random.Random, message: Any) -> str:
    """Let a node take something else: cycles, control edges, ports that are not there."""
    nodes = _found(message, "tensorflow.NodeDef")
    if not nodes:
        return "nothing"
    node, source = rng.choice(nodes), rng.choice(nodes).name
    text = rng.choice(
        [source, f"{source}:1", f"^{source}", f"{source}:-1", f"{source}:out:0", "y:9"]
    )
    if node.input and rng.random() < 0.7:
        node.input[rng.randrange(len(node.input))] = text
    else:
        node.input.append(text)
    return f"{node.name} takes {text}"


def _tensor(rng: random.Random, message: Any) -> str:
    """Let a tensor's shape, type or content disagree with the rest of it."""
    tensors = _found(message, "tensorflow.TensorProto")
    if not tensors:
        return "nothing"
    tensor = rng.choice(tensors)
    kind = rng.randrange(5)
    if kind == 0:
        tensor.tensor_shape.dim.add(size=rng.choice(NUMBERS))
    elif kind == 1:
        tensor.dtype = rng.choice([*range(26), 101, 9999])
    elif kind == 2:
        tensor.tensor_content = rng.randbytes(rng.randrange(20))
    elif kind == 3:
        tensor.tensor_shape.unknown_rank = True
    else:
        for _ in range(rng.choice((1, 40, 300))):
            tensor.tensor_shape.dim.add(size=rng.choice((0, 1, 1, 2**20)))
    return str(kind)


def _swap(rng: random.Random, message: Any) -> str:
    """Put one part of the message where another one of its kind stands."""
    kinds: dict[str, list[Any]] = {}
    for holder, field in places(message):
        if field.type == Field.TYPE_MESSAGE:
            for inner in _messages(field, getattr(holder, field.name)):
                kinds.setdefault(type(inner).DESCRIPTOR.full_name, []).append(inner)
    many = sorted(name for name, found in kinds.items() if len(found) > 1)
    if not many:
        return "nothing"
    name = rng.choice(many)
    one, other = rng.sample(kinds[name], 2)
    one.CopyFrom(copy.deepcopy(other))
    return name


def _nest(rng: random.Random, message: Any) -> str:
    """Nest an attribute's function in another's, many times; or let functions call themselves."""
    attrs = _found(message, "tensorflow.AttrValue")
    functions = _found(message, "tensorflow.FunctionDef")
    if functions and rng.random() < 0.5:
        caller, callee = rng.choice(functions), rng.choice(functions)
        call = caller.node_def.add(name="again", op=callee.signature.name)
        call.input.extend(arg.name for arg in caller.signature.input_arg)
        return f"{caller.signature.name} calls {callee.signature.name}"
    if not attrs:
        return "nothing"
    attr = rng.choice(attrs)
    for _ in range(rng.choice((1, 5, 25, 32, 40))):
        attr.func.name = rng.choice(["f", *_functions(message)])
        attr = attr.func.attr["f"]
    attr.i = 1
    return "deep"


def _fresh(rng: random.Random, message: Any) -> str:
    """Set a field that nobody had set, of the message or of one inside."""
    holders = [message, *(holder for holder, _ in places(message))]
    holder = rng.choice(holders)
    fields = [f for f in holder.DESCRIPTOR.fields if not f.is_repeated]
    if not fields:
        return "nothing"
    field = rng.choice(fields)
    if field.type == Field.TYPE_MESSAGE:
        getattr(holder, field.name).SetInParent()
    elif field.type in _STRINGS:
        setattr(holder, field.name, rng.choice(TEXTS if field.type == Field.TYPE_STRING else BYTES))
    elif field.type in _REAL:
        setattr(holder, field.name, rng.choice(REALS))
    elif field.type == Field.TYPE_BOOL:
        setattr(holder, field.name, True)
    else:
        low, high = _WHOLE.get(field.type, (0, 1))
        setattr(holder, field.name, rng.choice([n for n in NUMBERS if low <= n <= high]))
    return field.full_name


_CHANGES = (
    _remove, _remove, _duplicate, _shuffle, _text, _text, _number, _number, _attr, _attr, _op,
    _rewire, _rewire, _tensor, _tensor, _swap, _nest, _fresh,
)  # fmt: skip

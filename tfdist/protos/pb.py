"""Message classes by name (`pb.GraphDef`), enums (`pb.DataType`) and service methods.

Nothing is loaded, not even google.protobuf, before the first name is asked for. Then all of them
are set in this module: a class that is only reached through a field (`config.gpu_options`) must
pickle as well.
"""

from __future__ import annotations

import copyreg
import re
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from google.protobuf.descriptor import Descriptor, FileDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

_loading = threading.RLock()  # two threads must not make two pools: their classes would not mix


def __getattr__(name: str) -> Any:
    """Load all names on the first look-up of any; afterwards only unknown names come here."""
    if not name.startswith("_"):
        _pool()
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no message or enum {name!r}")


def method_classes(service: str) -> Iterator[tuple[str, type[Message], type[Message]]]:
    """Yield (name, request class, response class) of each method of `service`.

    Args:
        service: full name such as "tfdist.Inspection"; TensorFlow's need no "tensorflow.".
    """
    from google.protobuf.message_factory import GetMessageClass

    full_name = service if "." in service else f"tensorflow.{service}"
    for method in _pool().FindServiceByName(full_name).methods:
        yield method.name, GetMessageClass(method.input_type), GetMessageClass(method.output_type)


# What protobuf says before it says what is wrong.
_PREFIX = re.compile(r"Error parsing message( with type '[\w.]*')?(: )?")

# What it hands on of Python's own errors.
_PYTHON = re.compile(r": (TypeError|AttributeError|KeyError|IndexError|OverflowError)\b.*", re.S)


def parse(message_class: Any, data: Any) -> Any:
    """Return the message of `message_class` in `data`, bytes or a view of them.

    Raises:
        ValueError: they are no such message.
    """
    try:
        return message_class.FromString(bytes(data))
    except _decode_error() as error:
        name = message_class.DESCRIPTOR.full_name
        reason = _PREFIX.sub("", str(error))
        raise ValueError(f"{len(data)} bytes are no {name}: {reason}") from None


def _decode_error() -> type[Exception]:
    from google.protobuf.message import DecodeError

    return DecodeError  # type: ignore[no-any-return]


def from_json(message_class: Any, text: Any) -> Any:
    """Return the message of `message_class` that `text`, str or bytes, writes in JSON.

    Raises:
        ValueError: it writes no such message.
    """
    import json

    from google.protobuf.json_format import ParseDict, ParseError

    try:
        written = json.loads(text)
        if not isinstance(written, dict):
            raise ValueError("Root element must be a message.")
        return ParseDict(written, message_class())
    except ParseError as error:
        raise ValueError(_PYTHON.sub(": a value of another kind", str(error))) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def to_fields(message: Any) -> dict[str, Any]:
    """Return what JSON writes of a message: `from_json` reads it again."""
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(message)  # type: ignore[no-any-return]


def to_text(message: Any) -> str:
    """Return a message in protobuf's text format."""
    from google.protobuf.text_format import MessageToString

    return MessageToString(message)


def from_text(message_class: Any, text: Any) -> Any:
    """Return the message of `message_class` that `text`, str or bytes, writes in text format.

    Raises:
        ValueError: it writes no such message.
    """
    from google.protobuf.text_format import Parse, ParseError

    try:
        return Parse(text, message_class())
    except ParseError as error:
        raise ValueError(_PYTHON.sub(": a value of another kind", str(error))) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def reparse(message: Message) -> Message:
    """Return `message` as ours, whichever pool it comes from; ours is returned as it is.

    Raises:
        TypeError: no message of that full name is known here.
    """
    from google.protobuf.message_factory import GetMessageClass

    name = message.DESCRIPTOR.full_name
    try:
        ours = GetMessageClass(_pool().FindMessageTypeByName(name))
    except KeyError:
        raise TypeError(f"{name} is not a message of TensorFlow's protocol") from None
    return message if isinstance(message, ours) else ours.FromString(message.SerializeToString())


def _pool() -> DescriptorPool:
    with _loading:
        return _load()


@cache
def _load() -> DescriptorPool:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    path = Path(__file__).with_name("tensorflow.desc")  # importlib.resources takes long to import
    descriptors = FileDescriptorSet.FromString(path.read_bytes())
    for file in descriptors.file:
        pool.AddSerializedFile(file.SerializeToString())
    for file in descriptors.file:
        if not file.package.startswith("google."):
            _publish(pool.FindFileByName(file.name))
    return pool


def _publish(file: FileDescriptor) -> None:
    """Set the messages and enums of `file`, and the enums' values, in this module."""
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    for name, descriptor in file.message_types_by_name.items():
        globals()[name] = _message_class(descriptor)
    for name, descriptor in file.enum_types_by_name.items():
        globals()[name] = EnumTypeWrapper(descriptor)
        for value, one in descriptor.values_by_name.items():  # `types_pb2.DT_FLOAT`
            globals().setdefault(value, one.number)


def _message_class(descriptor: Descriptor) -> type[Message]:
    """Return the class of `descriptor`, so named that pickle finds it and those nested in it."""
    from google.protobuf.message_factory import GetMessageClass

    message_class = GetMessageClass(descriptor)
    message_class.__module__ = __name__
    message_class.__qualname__ = descriptor.full_name.removeprefix(f"{descriptor.file.package}.")
    copyreg.pickle(message_class, _reduce)  # protobuf's own way looks in the default pool
    for nested in descriptor.nested_types:
        setattr(message_class, nested.name, _message_class(nested))
    return message_class


def _reduce(message: Message) -> tuple[Any, ...]:
    return _parse, (type(message), message.SerializePartialToString())


def _parse(message_class: type[Message], data: bytes) -> Message:
    return message_class.FromString(data)

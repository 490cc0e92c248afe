"""Compile proto/*.proto to tfdist/protos/tensorflow.desc, and write tfdist/protos/pb.pyi.

Run it after every change to a .proto file: `python proto/regenerate.py` (needs grpcio-tools).
"""

import sys
import tempfile
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet
from grpc_tools import protoc

SOURCES = Path(__file__).parent
TARGET = SOURCES.parent / "tfdist" / "protos"
GOOGLE = Path(grpc_tools.__file__).parent / "_proto"  # google/protobuf/any.proto lies there

STUB_HEAD = '''\
"""What editors and type checkers know of `pb`. Written by proto/regenerate.py."""

from collections.abc import Iterator
from typing import Any, Self, TypeVar

class _MessageType(type):
    def __getattr__(cls, name: str) -> Any: ...

class Message(metaclass=_MessageType):
    def __init__(self, **fields: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...
    @classmethod
    def FromString(cls, data: bytes) -> Self: ...

class _Enum:
    def __getattr__(self, name: str) -> int: ...
    def Name(self, number: int) -> str: ...
    def Value(self, name: str) -> int: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[int]: ...
    def items(self) -> list[tuple[str, int]]: ...

_AnyMessage = TypeVar("_AnyMessage")

def method_classes(service: str) -> Iterator[tuple[str, type[Message], type[Message]]]: ...
def parse(message_class: type[_AnyMessage], data: Any) -> _AnyMessage: ...
def from_json(message_class: type[_AnyMessage], text: Any) -> _AnyMessage: ...
def to_fields(message: Any) -> dict[str, Any]: ...
def to_text(message: Any) -> str: ...
def from_text(message_class: type[_AnyMessage], text: Any) -> _AnyMessage: ...
def reparse(message: _AnyMessage) -> _AnyMessage: ...

'''


def main() -> None:
    """Write both files."""
    descriptors = compile_sources()
    (TARGET / "tensorflow.desc").write_bytes(to_bytes(descriptors))
    (TARGET / "pb.pyi").write_text(stub(descriptors))


def compile_sources() -> FileDescriptorSet:
    """Return the descriptors of all .proto files, each file after those that it imports."""
    names = sorted(path.name for path in SOURCES.glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        options = [f"-I{SOURCES}", f"-I{GOOGLE}", f"--descriptor_set_out={out}"]
        if protoc.main(["protoc", *options, "--include_imports", *names]):
            sys.exit("protoc failed")
        descriptors = FileDescriptorSet.FromString(out.read_bytes())
    return normalized(descriptors)


def normalized(descriptors: FileDescriptorSet) -> FileDescriptorSet:
    """Return `descriptors` without what other versions of protoc may write differently."""
    for file in descriptors.file:
        file.ClearField("options")
        for message in file.message_type:
            clear_json_names(message)
    return descriptors


def clear_json_names(message: DescriptorProto) -> None:
    """Clear the names that protobuf derives from the field names anyway."""
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        clear_json_names(nested)


def to_bytes(descriptors: FileDescriptorSet) -> bytes:
    """Return the content of tensorflow.desc."""
    return descriptors.SerializeToString(deterministic=True)


def stub(descriptors: FileDescriptorSet) -> str:
    """Return the content of pb.pyi: the names of all messages and enums, without fields."""
    ours = [file for file in descriptors.file if not file.package.startswith("google.")]
    enums = sorted(f"{enum.name}: _Enum\n" for file in ours for enum in file.enum_type)
    messages = sorted(
        f"class {message.name}(Message): ...\n" for file in ours for message in file.message_type
    )
    return "".join([STUB_HEAD, *enums, "\n", *messages])


if __name__ == "__main__":
    main()

"""The ops that TensorFlow has for tests of its framework: graphs of its test programs are of them.

Most have a signature and no kernel: nodes can be built, imported and looked at, but not run. A
few have kernels, each for one question: which device a node got, which of several kernels runs, or
whether a resource is there.

Source: TF 1.15.5, the registry that `tensorflow.python.framework.test_ops` shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []  # programs reach these as `test_ops.NAME` and by GraphDefs only

# What cannot be run: a line is a signature, and goes on in the next one that is indented.
SIGNATURES = """
A() -> out: float32
Attr() -> () [a: int]
AttrBool() -> () [a: bool]
AttrBoolList() -> () [a: list(bool)]
AttrDefault() -> () [a: string = 'banana']
AttrEmptyListDefault() -> () [a: list(float) = []]
AttrEnum() -> () [a: string {'apples','oranges'}]
AttrEnumList() -> () [a: list(string) {'apples','oranges'}]
AttrFloat() -> () [a: float]
AttrListDefault() -> () [a: list(int) = [5, 15]]
AttrListMin() -> () [a: list(int) >=2]
AttrListTypeDefault(a: N*T, b: N*T) -> () [T: type = int32; N: int >=1]
AttrMin() -> () [a: int >=5]
AttrPartialShape() -> () [a: shape]
AttrPartialShapeList() -> () [a: list(shape)]
AttrShape() -> () [a: shape]
AttrShapeList() -> () [a: list(shape)]
AttrTypeDefault(a: T) -> () [T: type = int32]
B() -> out: float32
Binary(a: T, b: T) -> out: T [T: type]
ComplexStruct() -> a: n_a*int32, b: n_b*int64, c: t_c [n_a: int >=0; n_b: int >=0; t_c:
    list(type) >=0]
CopyOp(a: T) -> b: T [T: type]
DefaultAttrs() -> () [string_val: string = 'abc'; string_list_val: list(string) = ['abc', ''];
    int_val: int = 123; int_list_val: list(int) = [1, 2, 3]; float_val: float = 10.0;
    float_list_val: list(float) = [10.0]; bool_val: bool = True; bool_list_val: list(bool) =
    [True, False]; type_val: type = int32; type_list_val: list(type) = [int32,float32];
    shape_val: shape = [2, 1]; shape_list_val: list(shape) = [[], [1]]; tensor_val: tensor =
    1; tensor_list_val: list(tensor) = [1]]
FiveFloatOutputs() -> a: float32, b: float32, c: float32, d: float32, e: float32
FloatInput(a: float32) -> ()
FloatOutput() -> a: float32
FloatOutputStringOutput() -> a: float32, b: string
Foo1(a: float32, b: int32, c: int32) -> d: float32, e: int32
Foo2(a: float32, b: string, c: string) -> d: float32, e: int32
Foo3(a: float32, b: string, c: float32) -> d: float32, e: int32
FuncAttr() -> () [f: func]
FuncListAttr() -> () [f: list(func)]
InPolymorphicTwice(a: N*T, b: M*T) -> () [T: type; N: int >=0; M: int >=0]
Int64Output() -> out: int64
IntAttr() -> out: int64 [foo: int = 1]
IntInput(a: int32) -> ()
IntInputFloatInput(a: int32, b: float32) -> ()
IntInputIntOutput(a: int32) -> b: int32
IntOutput() -> a: int32
IntOutputFloatOutput() -> a: int32, b: float32
ListInput(a: N*T) -> () [N: int >=1; T: type]
ListOutput() -> a: T [T: list(type) >=1]
MixedStruct() -> a: n_a*int32, b: float32 [n_a: int >=0]
NInPolymorphicTwice(a: N*T, b: N*T) -> () [T: type; N: int >=0]
NInTwice(a: N*int32, b: N*string) -> () [N: int >=0]
NInTwoTypeVariables(a: N*S, b: N*T) -> () [S: type; T: type; N: int >=0]
NIntsIn(a: N*int32) -> () [N: int >=2]
NIntsOut() -> a: N*int32 [N: int >=2]
NIntsOutDefault() -> a: N*int32 [N: int = 3 >=2]
NPolymorphicIn(a: N*T) -> () [T: type; N: int >=2]
NPolymorphicOut() -> a: N*T [T: type; N: int >=2]
NPolymorphicOutDefault() -> a: N*T [T: type = bool; N: int = 2 >=2]
NPolymorphicRestrictIn(a: N*T) -> () [T: type {string,bool}; N: int >=2]
NPolymorphicRestrictOut() -> a: N*T [T: type {string,bool}; N: int >=2]
None() -> ()
OpWithDefaultAttr() -> a: int32 [default_float: float = 123.0]
OpWithFutureDefaultAttr() -> ()
OutT() -> a: T [T: type]
OutTypeList() -> out: T [T: list(type) >=0]
OutTypeListRestrict() -> out: t [t: list(type) {string,bool} >=1]
Polymorphic(a: T) -> out: T [T: type]
PolymorphicDefaultOut() -> out: T [T: type = string]
PolymorphicOut() -> out: T [T: type]
RefIn(a: Ref(T)) -> () [T: type]
RefInputFloatInput(a: Ref(float32), b: float32) -> ()
RefInputFloatInputIntOutput(a: Ref(float32), b: float32) -> c: int32
RefInputIntInput(a: Ref(int32), b: int32) -> ()
RefOut() -> a: Ref(T) [T: type]
RefOutput() -> a: Ref(int32)
RefOutputFloatOutput() -> a: Ref(float32), b: float32
ReservedAttr() -> () [range: int]
ReservedInput(input: int32) -> ()
Restrict(a: T) -> out: T [T: type {string,bool}]
Simple(a: int32) -> out: float32
SimpleStruct() -> a: n_a*int32 [n_a: int >=0]
StringListAttr() -> () [a: list(string); b: string]
TestStringOutput(input: float32) -> output1: float32, output2: string
TwoFloatInputs(a: float32, b: float32) -> ()
TwoFloatInputsFloatOutput(a: float32, b: float32) -> c: float32
TwoFloatInputsIntOutput(a: float32, b: float32) -> c: int32
TwoFloatOutputs() -> a: float32, b: float32
TwoIntInputs(a: int32, b: int32) -> ()
TwoIntOutputs() -> a: int32, b: int32
TwoRefsIn(a: Ref(T), b: Ref(T)) -> () [T: type]
TypeList(a: T) -> () [T: list(type) >=0]
TypeListRestrict(a: T) -> () [T: list(type) {string,bool} >=1]
TypeListTwice(a: T, b: T) -> () [T: list(type) >=0]
Unary(a: T) -> b: T [T: type]
"""

OPS = [OpDef(line) for line in SIGNATURES.strip().replace("\n    ", " ").splitlines()]

DEVICE_PLACEMENT = OpDef("DevicePlacementOp() -> device: string !")
KERNEL_LABEL = OpDef("KernelLabel() -> result: string")
KERNEL_LABEL_REQUIRED = OpDef("KernelLabelRequired(input: int32) -> result: string")
TEST_ATTR = OpDef("TestAttr() -> out: T [T: type {float32,float64}]")


@DEVICE_PLACEMENT.shape
@KERNEL_LABEL.shape
def scalar_shape() -> Shape:
    return ()


@DEVICE_PLACEMENT.kernel
def device_placement_kernel(ctx: Any) -> bytes:
    return bytes(ctx.device, "utf-8")


@KERNEL_LABEL_REQUIRED.shape
def kernel_label_required_shape(input: Shape) -> Shape:
    shapes.require_rank(input, "input", 1)
    return ()


@KERNEL_LABEL.kernel
def kernel_label_kernel() -> bytes:
    return b"My label is: default"


def _labelled(label: str) -> None:
    """Register the kernels of a label, which tell it."""
    said = f"My label is: {label}".encode()
    KERNEL_LABEL.labelled_kernel(label, lambda: said)
    KERNEL_LABEL_REQUIRED.labelled_kernel(label, lambda input: said)


_labelled("overload_1")
_labelled("overload_2")


@TEST_ATTR.kernel
def test_attr_kernel(*, T: DType) -> Any:
    if T.name != "float32":
        raise InvalidArgumentError(
            "No OpKernel was registered to support Op 'TestAttr' with these attrs: "
            f"[T={T.name}]; it has one for float32 only"
        )
    return np.float32(1)


STUB = OpDef(
    "StubResourceHandleOp() -> resource: resource "
    "[container: string = ''; shared_name: string = ''] !"
)
CREATE = OpDef("ResourceCreateOp(resource: resource) -> () !")
INITIALIZED = OpDef("ResourceInitializedOp(resource: resource) -> initialized: bool !")
USING = OpDef("ResourceUsingOp(resource: resource) -> () !")


@STUB.shape
def stub_shape() -> Shape:
    return ()


@STUB.kernel
def stub_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    name = shared_name.decode()
    return ctx.resource("stub", container, name, lambda Stub: Stub(name, container.decode()))


@INITIALIZED.shape
def initialized_shape(resource: Shape) -> Shape:
    return ()


def _stub(resource: Any) -> Any:
    """Return a handle that is of a stub."""
    if not hasattr(resource, "is_created"):
        raise InvalidArgumentError(
            f"Trying to access resource using the wrong type. Expected {resource!r} to be what "
            "StubResourceHandleOp gives"
        )
    return resource


@CREATE.kernel
def create_kernel(resource: Any) -> None:
    if not _stub(resource).create():
        raise AlreadyExistsError(f"Resource {resource.path} is there already")


@INITIALIZED.kernel
def initialized_kernel(resource: Any) -> Any:
    return np.bool_(_stub(resource).is_created)


@USING.kernel
def using_kernel(resource: Any) -> None:
    if not _stub(resource).is_created:
        raise NotFoundError(
            f"Container {resource.container} does not exist. (Could not find resource: "
            f"{resource.path}); run ResourceCreateOp first"
        )

"""Fourier transforms of the last one, two or three axes of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.tile_roll import roll

__all__ = [
    "batch_fft",
    "batch_fft2d",
    "batch_fft3d",
    "batch_ifft",
    "batch_ifft2d",
    "batch_ifft3d",
    "fft",
    "fft2d",
    "fft3d",
    "ifft",
    "ifft2d",
    "ifft3d",
]  # the others are of tf.signal only

_FORWARD: dict[int, Callable[[Any], Any]] = {
    1: np.fft.fft,
    2: np.fft.fft2,
    3: lambda x: np.fft.fftn(x, axes=(-3, -2, -1)),
}
_BACKWARD: dict[int, Callable[[Any], Any]] = {
    1: np.fft.ifft,
    2: np.fft.ifft2,
    3: lambda x: np.fft.ifftn(x, axes=(-3, -2, -1)),
}
SUFFIX = {1: "", 2: "2D", 3: "3D"}
_COMPLEX = "[Tcomplex: type = complex64 {complex64,complex128}]"


def transform_size(tensor: Tensor, axes: int) -> Tensor:
    """Return how many elements one transform takes, in the type of the tensor."""
    count = raw.Prod(raw.Slice(raw.Shape(tensor), raw.Sub(raw.Rank(tensor), [axes]), [axes]), [0])
    size: Tensor = raw.Cast(count, DstT=tensor.dtype.base_dtype)
    return size


def _complex(name: str, axes: int, function: Callable[[Any], Any], is_forward: bool) -> OpDef:
    """Define a transform of complex numbers, and the old op of a batch that is its alias."""
    op_def = OpDef(f"{name}(input: Tcomplex) -> output: Tcomplex {_COMPLEX}")
    old = OpDef(f"Batch{name}(input: complex64) -> output: complex64")

    def fft_shape(input: Shape) -> Shape:
        shapes.require_rank(input, "input", axes, 99)
        return input

    def fft_kernel(input: Any) -> Any:
        check_rank(input, axes)
        return function(input) if input.size else input.copy()

    for each in (op_def, old):
        each.shape(fft_shape)
        each.kernel(fft_kernel)

    @op_def.gradient
    def fft_gradient(op: Any, d_output: Any) -> Any:
        size = transform_size(d_output, axes)
        if is_forward:
            return raw.Mul(getattr(raw, f"I{name}")(d_output), size)
        return raw.RealDiv(getattr(raw, name[1:])(d_output), size)

    return op_def


def check_rank(input: Any, axes: int) -> None:
    """Raise InvalidArgumentError unless an array has enough axes for a transform."""
    if input.ndim < axes:
        raise InvalidArgumentError(
            f"Input must have rank of at least {axes}, but has shape {shapes.show(input.shape)}"
        )


FFT, FFT2D, FFT3D = (
    _complex(f"FFT{SUFFIX[axes]}", axes, _FORWARD[axes], True) for axes in (1, 2, 3)
)
IFFT, IFFT2D, IFFT3D = (
    _complex(f"IFFT{SUFFIX[axes]}", axes, _BACKWARD[axes], False) for axes in (1, 2, 3)
)


def _public(name: str, op_def: OpDef, meaning: str) -> Callable[..., Tensor]:
    """Return the public function of a transform of complex numbers."""

    def function(input: Any, name: str | None = None) -> Tensor:
        transformed: Tensor = op_def(input, name=name)
        return transformed

    function.__name__ = function.__qualname__ = name
    ones = {"": "[1.0, 1.0]", "2": "[[1.0, 1.0]]", "3": "[[[1.0, 1.0]]]"}[name[-2:-1].strip("f")]
    scale = 1 if name.startswith("i") else 2
    function.__doc__ = f"""Return {meaning} of the last axes.

    Args:
      input: complex numbers, with as many axes at least.
      name: of the node.

    Example:
      >>> Session().run({name}({ones})).real.ravel()
      array([{scale}., 0.], dtype=float32)
    """
    return function


def _named(name: str, op_def: OpDef, dimensions: str, back: bool) -> Callable[..., Tensor]:
    which = "inverse discrete Fourier transform" if back else "discrete Fourier transform"
    return _public(name, op_def, f"the {which} ({dimensions})")


fft = _named("fft", FFT, "one-dimensional", False)
fft2d = _named("fft2d", FFT2D, "two-dimensional", False)
fft3d = _named("fft3d", FFT3D, "three-dimensional", False)
ifft = _named("ifft", IFFT, "one-dimensional", True)
ifft2d = _named("ifft2d", IFFT2D, "two-dimensional", True)
ifft3d = _named("ifft3d", IFFT3D, "three-dimensional", True)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Return a spectrum with the zero frequency in the middle of its axes.

    Args:
      x: numbers of known shape.
      axes: an axis or a list of such; by default all.
      name: of the node.

    Example:
      >>> Session().run(signal.fftshift([0, 1, 2, -2, -1]))
      array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted("fftshift", x, axes, name, lambda size: size // 2)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Return a spectrum with the zero frequency first: what `fftshift` did is undone.

    Args:
      x: numbers of known shape.
      axes: an axis or a list of such; by default all.
      name: of the node.

    Example:
      >>> Session().run(signal.ifftshift([-2, -1, 0, 1, 2]))
      array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted("ifftshift", x, axes, name, lambda size: -(size // 2))


def _shifted(
    public: str, x: Any, axes: Any, name: str | None, shift: Callable[[int], int]
) -> Tensor:
    with name_scope(name, public, [x]) as scope:
        x = convert_to_tensor(x)
        sizes = x.shape.as_list()
        if None in sizes:
            raise TypeError(f"{public} needs a tensor of known shape, got {x!r}")
        axes = list(range(len(sizes))) if axes is None else axes
        if isinstance(axes, int):
            return roll(x, shift(sizes[axes]), axes, name=scope)
        return roll(x, [shift(sizes[axis]) for axis in axes], axes, name=scope)


# as TensorFlow 0.x named what takes a batch
batch_fft = fft
batch_fft2d = fft2d
batch_fft3d = fft3d
batch_ifft = ifft
batch_ifft2d = ifft2d
batch_ifft3d = ifft3d

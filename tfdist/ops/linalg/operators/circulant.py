"""Circulant operators: matrices whose rows are each the one before, shifted.

They are diagonal between Fourier transforms: what is on the diagonal is their spectrum.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import eye
from tfdist.ops.array.shape import shape as shape_tensor
from tfdist.ops.array.transpose import matrix_transpose
from tfdist.ops.checks.assertions import assert_equal, assert_less, assert_positive
from tfdist.ops.linalg.operators.linear_operator import LinearOperator, checked
from tfdist.ops.linalg.products import adjoint as adjoint_of
from tfdist.ops.math.reductions import reduce_prod, reduce_sum

__all__: list[str] = []  # its names are those of tf.linalg only

_SUFFIX = {1: "", 2: "2D", 3: "3D"}


class _Circulant(LinearOperator):
    """What circulant operators have in common, over however many axes they convolve."""

    block_depth: int

    def __init__(
        self, spectrum: Any, input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:  # fmt: skip
        self.spectrum: Any = checked(spectrum, "spectrum", self.block_depth)
        if is_square is False:
            raise ValueError("A circulant operator is always square.")
        if not self.spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        super().__init__(
            dtypes.as_dtype(input_output_dtype), [self.spectrum], is_non_singular, is_self_adjoint,
            is_positive_definite, True, name,
        )  # fmt: skip

    @property
    def block_shape(self) -> TensorShape:
        """Return the sizes of the axes over which it convolves."""
        return self.spectrum.shape[-self.block_depth :]  # type: ignore[no-any-return]

    def block_shape_tensor(self) -> Any:
        """Return the sizes of the axes over which it convolves, as a tensor."""
        sizes: Any = shape_tensor(self.spectrum)
        return sizes[-self.block_depth :]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """Return with what it convolves: [..., sides]."""
        with self._scope(name):
            return cast(self._transformed(self._complex(), back=True), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Return an operation that fails if the matrix is not real."""
        with self._scope(name):
            kernel = self._transformed(self._complex(), back=True)
            size: Any = reduce_prod(self.block_shape_tensor())
            imaginary = raw.Abs(_imaginary(kernel))
            bound = cast(size, imaginary.dtype) * 1e-6
            message = "Spectrum was not Hermitian"
            return assert_less(imaginary, bound, message=message)

    def _plain_shape(self) -> Shape:
        plain = self.spectrum.plain_shape
        if plain is None:
            return None
        side: int | None = 1
        for size in plain[-self.block_depth :]:
            side = None if None in (side, size) else side * size
        return (*plain[: -self.block_depth], side, side)

    def _complex(self) -> Any:
        wide = self.spectrum.dtype in (dtypes.float64, dtypes.complex128)
        return cast(self.spectrum, dtypes.complex128 if wide else dtypes.complex64)

    def _transformed(self, blocks: Any, back: bool) -> Any:
        name = f"{'I' if back else ''}FFT{_SUFFIX[self.block_depth]}"
        return getattr(raw, name)(blocks)

    def _filtered(self, x: Any, factors: Any) -> Tensor:
        """Return vectors [..., side, others] whose spectra are multiplied by factors."""
        columns: Any = matrix_transpose(cast(x, factors.dtype))
        sizes: Any = shape_tensor(columns)
        blocks = raw.Reshape(columns, raw.ConcatV2([sizes[:-1], self.block_shape_tensor()], 0))
        spectra = raw.Mul(
            self._transformed(blocks, back=False),
            raw.ExpandDims(factors, -1 - self.block_depth), name="mul",
        )  # fmt: skip
        rows = self._transformed(spectra, back=True)
        whole: Any = shape_tensor(rows)
        flat = raw.Reshape(rows, raw.ConcatV2([whole[: -self.block_depth], sizes[-1:]], 0))
        result = cast(matrix_transpose(flat), self.dtype)
        own, other = self._plain_shape(), x.plain_shape
        if own is not None and other is not None and len(own) == 2:
            result.set_shape(other)
        return result

    def _matmul(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        spectrum = self._complex()
        return self._filtered(x, raw.Conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs: Tensor, adjoint: bool) -> Tensor:
        spectrum = self._complex()
        return self._filtered(rhs, raw.Reciprocal(raw.Conj(spectrum) if adjoint else spectrum))

    def _matrix(self) -> Tensor:
        side: Any = reduce_prod(self.block_shape_tensor())
        own = self._plain_shape()
        known = side if own is None or own[-1] is None else own[-1]
        return self._matmul(eye(known, dtype=self.dtype), False, False)

    def _axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def _determinant(self) -> Tensor:
        return cast(reduce_prod(self.spectrum, self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(raw.Log(raw.Abs(self.spectrum)), self._axes()), self.dtype)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Return an operation that fails if the spectrum holds a 0."""
        with self._scope(name):
            size = raw.Abs(self.spectrum)
            message = "Singular operator: Spectrum contained zero values."
            return assert_less(cast(0, size.dtype), size, message=message)

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Return an operation that fails unless the spectrum's real part is positive."""
        with self._scope(name):
            real = self.spectrum
            message = "Not positive definite: Real part of spectrum was not all positive."
            return assert_positive(cast(real, real.dtype.real_dtype), message=message)

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Return an operation that fails unless the spectrum is real."""
        with self._scope(name):
            if not self.spectrum.dtype.is_complex:
                with control_dependencies([]):
                    return raw.NoOp()
            imaginary = _imaginary(self.spectrum)
            message = "Not self-adjoint: The spectrum contained non-zero imaginary part."
            return assert_equal(cast(0, imaginary.dtype), imaginary, message=message)


class LinearOperatorCirculant(_Circulant):
    """A matrix that convolves vectors, as if their ends were joined.

    Args:
      spectrum: [..., side], the Fourier transform of the first column.
      input_output_dtype: of what it is multiplied with, and gives.
      is_non_singular: as for all of them, see `LinearOperator`.
      is_self_adjoint: as for all of them; true of a real spectrum.
      is_positive_definite: as for all of them, see `LinearOperator`.
      is_square: True.
      name: in front of the names of its nodes.

    Raises:
      ValueError: the spectrum has not enough axes, or properties contradict each other.

    Example:
      >>> operator = linalg.LinearOperatorCirculant([1.0, 3.0], "float32")
      >>> Session().run(operator.to_dense())
      array([[ 2., -1.],
             [-1.,  2.]], dtype=float32)
    """

    block_depth = 1

    def __init__(
        self, spectrum: Any, input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:  # fmt: skip
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name,
        )  # fmt: skip


class LinearOperatorCirculant2D(_Circulant):
    """A matrix that convolves images, as if their edges were joined; see LinearOperatorCirculant.

    Example:
      >>> linalg.LinearOperatorCirculant2D([[1.0, 2.0, 3.0]]).shape.as_list()
      [3, 3]
    """

    block_depth = 2

    def __init__(
        self, spectrum: Any, input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:  # fmt: skip
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name,
        )  # fmt: skip


class LinearOperatorCirculant3D(_Circulant):
    """A matrix that convolves volumes, as if their faces were joined; see LinearOperatorCirculant.

    Example:
      >>> linalg.LinearOperatorCirculant3D([[[1.0], [2.0]]]).shape.as_list()
      [2, 2]
    """

    block_depth = 3

    def __init__(
        self, spectrum: Any, input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:  # fmt: skip
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name,
        )  # fmt: skip


def _imaginary(numbers: Any) -> Any:
    return raw.Imag(numbers, Tout=numbers.dtype.base_dtype.real_dtype)

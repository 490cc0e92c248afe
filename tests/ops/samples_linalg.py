"""The samples of linear algebra, spectra and special functions; `samples.py` tells the form."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def complexes(*shape):
    """Return different complex64 numbers."""
    return (floats(*shape) + 1j * floats(*shape, start=0.93)).astype(np.complex64)


def regular(*shape, make=floats):
    """Return square matrices that are far from singular."""
    return make(*shape) / 4 + np.diag(np.arange(1, shape[-1] + 1)).astype(np.float32)


def definite(*shape, make=floats):
    """Return square matrices that are self-adjoint and positive definite."""
    matrices = regular(*shape, make=make)
    return (matrices @ np.conj(np.swapaxes(matrices, -1, -2))).astype(matrices.dtype)


F3, F23, F234 = floats(3), floats(2, 3), floats(2, 3, 4)
R3, R233 = regular(3, 3), regular(2, 3, 3)
C3 = regular(3, 3, make=complexes).astype(np.complex64)
D3, D233 = definite(3, 3), definite(2, 3, 3)
D214, C13 = floats(2, 1, 4), complexes(1, 3)
MAIN = np.array([[0], [3], [0]], np.float32)
REGULARIZER = np.float64(0.25)
P23 = (np.abs(F23) + 0.5).astype(np.float32)

SOLVES = [(R3, floats(3, 2)), (R233, F234, {"adjoint": True}), (C3, complexes(3, 2))]
TRIANGULAR = [(R3, floats(3, 2)), (R233, F234, {"lower": False, "adjoint": True}),
              (C3, complexes(3, 2), {"adjoint": True})]  # fmt: skip
LEAST = [(floats(4, 2), floats(4, 3), REGULARIZER), (floats(2, 3, 4), floats(2, 3, 2), REGULARIZER)]
SVDS = [(floats(3, 2),), (floats(2, 2, 3), {"full_matrices": True}),
        (complexes(3, 2), {"compute_uv": False})]  # fmt: skip

SAMPLES = {
    # decompositions.py
    "Qr": [(F23,), (floats(3, 2),), (floats(2, 4, 3), {"full_matrices": True})],
    # linalg_cholesky.py
    "Cholesky": [(D3,), (D233,), (definite(3, 3, make=complexes),)],
    "BatchCholesky": (D233,),
    "CholeskyGrad": (np.tril(R3), R3 + F3),
    "BatchCholeskyGrad": (np.tril(R233), R233 + F3),
    # linalg_inverse.py
    "MatrixInverse": [(R3,), (R233, {"adjoint": True}), (C3,), (C3, {"adjoint": True})],
    "BatchMatrixInverse": (R233,),
    "MatrixDeterminant": [(R3,), (R233,), (C3,)],
    "BatchMatrixDeterminant": (R233,),
    "LogMatrixDeterminant": [(R3,), (-R233,)],
    # linalg_solving.py, linalg_least_squares.py
    "MatrixSolve": SOLVES,
    "BatchMatrixSolve": (R233, F234),
    "MatrixTriangularSolve": TRIANGULAR,
    "BatchMatrixTriangularSolve": (R233, F234),
    "MatrixSolveLs": [*LEAST, (floats(4, 2), floats(4, 3), REGULARIZER, {"fast": False})],
    "BatchMatrixSolveLs": (floats(2, 3, 4), floats(2, 3, 2), REGULARIZER),
    # linalg_eigen.py
    "SelfAdjointEigV2": [(D3,), (D233,), (D3, {"compute_v": False})],
    "BatchSelfAdjointEigV2": (D233,),
    "SelfAdjointEig": (D3,),
    "BatchSelfAdjointEig": (D233,),
    # linalg_singular.py
    "Svd": SVDS,
    "BatchSvd": (floats(2, 2, 3),),
    # linalg_triangular.py
    "Lu": [(R3[[2, 0, 1]],), (floats(2, 4, 4), {"output_idx_type": "int64"}), (C3[::-1],)],
    # linalg_functions.py
    "MatrixLogarithm": [(C3,), (definite(2, 3, 3, make=complexes),)],
    "MatrixSquareRoot": [(D3,), (D233,), (definite(3, 3, make=complexes),)],
    # linalg_tridiagonal.py
    "TridiagonalMatMul": [(D214, D214 + 1, D214 - 1, F234.swapaxes(1, 2)),
                          (C13, C13 + 1, C13 - 1, complexes(3, 2))],
    "TridiagonalSolve": [(floats(3, 4) + MAIN, floats(4, 2)),
                         (floats(2, 3, 4) + MAIN, floats(2, 4, 2), {"partial_pivoting": False}),
                         (complexes(3, 4), complexes(4, 2))],
    # linalg_products.py
    "Cross": [(F23, F23[::-1] + 1), (ints([1, 2, 3]), ints([4, -5, 6]))],
    # linalg_einsum.py
    "Einsum": [([F23, floats(3, 4)], {"equation": "ij,jk->ki"}),
               ([F234, floats(2, 5, 4)], {"equation": "bij,bkj->kib"}),
               ([F234], {"equation": "bij->j"}), ([F234, F3], {"equation": "abc,b->c"}),
               ([complexes(2, 3), complexes(3)], {"equation": "ij,j->"})],
    # spectra.py, spectra_real.py
    "FFT": (complexes(2, 3),),
    "FFT2D": (complexes(2, 3, 4),),
    "FFT3D": (complexes(2, 3, 4),),
    "IFFT": (complexes(2, 3),),
    "IFFT2D": (complexes(2, 3, 4),),
    "IFFT3D": (complexes(2, 3, 4),),
    **{f"Batch{way}{axes}": (complexes(2, 3, 4),)
       for way in ("FFT", "IFFT") for axes in ("", "2D", "3D")},
    "RFFT": [(floats(2, 6), ints([6])), (floats(2, 6), ints([5]))],
    "RFFT2D": [(floats(2, 4, 6), ints([4, 6])), (floats(2, 4, 6), ints([3, 5]))],
    "RFFT3D": (floats(2, 4, 6), ints([2, 3, 6])),
    "IRFFT": [(complexes(2, 4), ints([6])), (complexes(2, 4), ints([5]))],
    "IRFFT2D": [(complexes(2, 3, 4), ints([3, 6])), (complexes(2, 3, 4), ints([2, 5]))],
    "IRFFT3D": (complexes(2, 3, 4), ints([2, 3, 6])),
    # special_functions.py, special_bessel.py
    "Igamma": [(P23, P23[::-1] + 1), (P23 * 9, P23[0])],
    "Igammac": [(P23, P23[::-1] + 1), (P23 * 9, P23[0])],
    "IgammaGradA": [(P23, P23[::-1] + 1), (P23 * 9, P23[0])],
    "Betainc": [(P23, P23[::-1] + 1, P23 / 2), (np.float32(2.5), P23 + 3, P23 / 2),
                (P23, np.float32(1.5), np.float32(0.25))],
    "Zeta": [(P23 + 1, P23), (P23[0] + 2, P23 * 9)],
    "Polygamma": (ints(1).astype(np.float32), P23 * 3),
    "NextAfter": [(F23, F3), (F3, F23)],
    "BesselI0e": [(F23,), (F23 * 99,)],
    "BesselI1e": [(F23,), (F23 * 99,)],
    # histograms.py
    "Bincount": [(ints([3, 1, 7, 3]), ints(5), ints([2, 3, 4, 5])),
                 (ints([[3, 1], [0, 3]]), ints(5), floats(0))],
    "HistogramFixedWidth": (F23, np.array([-0.5, 0.75], np.float32), ints(5)),
    # scans_logarithms.py
    "CumulativeLogsumexp": [(F23, ints(1)), (F234, ints(-2), {"reverse": True})],
}  # fmt: skip

"""The samples of linear algebra."""

from __future__ import annotations

import numpy as np

from .values import complexes, floats, ints


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
SOLVES = [(R3, floats(3, 2)), (R233, F234, {"adjoint": True}), (C3, complexes(3, 2))]
TRIANGULAR = [(R3, floats(3, 2)), (R233, F234, {"lower": False, "adjoint": True}),
              (C3, complexes(3, 2), {"adjoint": True})]  # fmt: skip
LEAST = [(floats(4, 2), floats(4, 3), REGULARIZER), (floats(2, 3, 4), floats(2, 3, 2), REGULARIZER)]
SVDS = [(floats(3, 2),), (floats(2, 2, 3), {"full_matrices": True}),
        (complexes(3, 2), {"compute_uv": False})]  # fmt: skip
MOMENTS = floats(3, start=0.9), np.float32([0.7, 1.3, 0.4])
NORM = {"variance_epsilon": 0.001, "scale_after_normalization": True}
PLAIN = {"variance_epsilon": 0.001, "scale_after_normalization": False}
F34 = floats(3, 4)
NO = np.float32(0.4)

SAMPLES = {
    # linalg/qr.py
    "Qr": [(F23,), (floats(3, 2),), (floats(2, 4, 3), {"full_matrices": True})],
    # linalg/cholesky.py
    "Cholesky": [(D3,), (D233,), (definite(3, 3, make=complexes),)],
    "BatchCholesky": (D233,),
    "CholeskyGrad": (np.tril(R3), R3 + F3),
    "BatchCholeskyGrad": (np.tril(R233), R233 + F3),
    # linalg/inverse.py
    "MatrixInverse": [(R3,), (R233, {"adjoint": True}), (C3,), (C3, {"adjoint": True})],
    "BatchMatrixInverse": (R233,),
    "MatrixDeterminant": [(R3,), (R233,), (C3,)],
    "BatchMatrixDeterminant": (R233,),
    "LogMatrixDeterminant": [(R3,), (-R233,)],
    # linalg/solve.py, linalg/least_squares.py
    "MatrixSolve": SOLVES,
    "BatchMatrixSolve": (R233, F234),
    "MatrixTriangularSolve": TRIANGULAR,
    "BatchMatrixTriangularSolve": (R233, F234),
    "MatrixSolveLs": [*LEAST, (floats(4, 2), floats(4, 3), REGULARIZER, {"fast": False})],
    "BatchMatrixSolveLs": (floats(2, 3, 4), floats(2, 3, 2), REGULARIZER),
    # linalg/eigen.py
    "SelfAdjointEigV2": [(D3,), (D233,), (D3, {"compute_v": False})],
    "BatchSelfAdjointEigV2": (D233,),
    "SelfAdjointEig": (D3,),
    "BatchSelfAdjointEig": (D233,),
    # linalg/svd.py
    "Svd": SVDS,
    "BatchSvd": (floats(2, 2, 3),),
    # linalg/lu.py
    "Lu": [(R3[[2, 0, 1]],), (floats(2, 4, 4), {"output_idx_type": "int64"}), (C3[::-1],)],
    # linalg/matrix_functions.py
    "MatrixLogarithm": [(C3,), (definite(2, 3, 3, make=complexes),)],
    "MatrixSquareRoot": [(D3,), (D233,), (definite(3, 3, make=complexes),)],
    # linalg/tridiagonal.py
    "TridiagonalMatMul": [(D214, D214 + 1, D214 - 1, F234.swapaxes(1, 2)),
                          (C13, C13 + 1, C13 - 1, complexes(3, 2))],
    "TridiagonalSolve": [(floats(3, 4) + MAIN, floats(4, 2)),
                         (floats(2, 3, 4) + MAIN, floats(2, 4, 2), {"partial_pivoting": False}),
                         (complexes(3, 4), complexes(4, 2))],
    # linalg/products.py
    "Cross": [(F23, F23[::-1] + 1), (ints([1, 2, 3]), ints([4, -5, 6]))],
    # linalg/einsum.py
    "Einsum": [([F23, floats(3, 4)], {"equation": "ij,jk->ki"}),
               ([F234, floats(2, 5, 4)], {"equation": "bij,bkj->kib"}),
               ([F234], {"equation": "bij->j"}), ([F234, F3], {"equation": "abc,b->c"}),
               ([complexes(2, 3), complexes(3)], {"equation": "ij,j->"})],
    # linalg/diag.py
    "MatrixDiag": (F23,),
    "MatrixDiagPart": (F234,),
    "MatrixSetDiag": (F234, floats(2, 3)),
    "MatrixBandPart": (F234, np.int64(1), np.int64(-1)),
    "Diag": (F23,),
    "DiagPart": (floats(2, 3, 2, 3),),
    # linalg/legacy_diag.py
    "BatchMatrixDiag": (F23,),
    "BatchMatrixDiagPart": (F234,),
    "BatchMatrixSetDiag": (F234, floats(2, 3, start=0.55)),
    "BatchMatrixBandPart": (F234, np.int64(1), np.int64(-1)),
    "BatchNormWithGlobalNormalization": [
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=0.55), floats(3, start=1.2), NORM),
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=0.55), floats(3, start=1.2), PLAIN),
    ],
    "BatchNormWithGlobalNormalizationGrad": [
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=1.2), floats(2, 4, 5, 3, start=0.7), NORM),
        (floats(2, 4, 5, 3), *MOMENTS, floats(3, start=1.2), floats(2, 4, 5, 3, start=0.7), PLAIN),
    ],
    # linalg/banded_diag.py
    "MatrixDiagV2": [
        (F23, ints(0), ints(-1), ints(-1), NO),
        (F23, ints([-1, 0]), ints(3), ints(4), NO),
        (F23, ints([0, 1]), ints(5), ints(-1), NO),
        (F23, ints(-2), ints(-1), ints(3), NO),
    ],
    "MatrixDiagPartV2": [
        (F234, ints(1), NO), (F234, ints([-1, 1]), NO), (F34, ints([1, 3]), NO),
        (F34, ints([-2, -1]), NO),
    ],
    "MatrixSetDiagV2": [
        (F234, floats(2, 3, start=0.55), ints(1)),
        (F34, floats(2, 3, start=0.55), ints([-1, 0])),
        (F34, floats(3, 3, start=0.55), ints([1, 3])),
    ],
}  # fmt: skip

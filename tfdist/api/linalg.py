"""tf.linalg: matrices."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.array.fill import eye
    from tfdist.ops.array.transpose import matrix_transpose
    from tfdist.ops.array.transpose import matrix_transpose as transpose
    from tfdist.ops.linalg.cholesky import cholesky, cholesky_solve
    from tfdist.ops.linalg.diag import diag as tensor_diag
    from tfdist.ops.linalg.diag import diag_part as tensor_diag_part
    from tfdist.ops.linalg.diag import matrix_band_part as band_part
    from tfdist.ops.linalg.diag import matrix_diag as diag
    from tfdist.ops.linalg.diag import matrix_diag_part as diag_part
    from tfdist.ops.linalg.diag import matrix_set_diag as set_diag
    from tfdist.ops.linalg.eigen import self_adjoint_eig as eigh
    from tfdist.ops.linalg.eigen import self_adjoint_eigvals as eigvalsh
    from tfdist.ops.linalg.einsum import einsum
    from tfdist.ops.linalg.inverse import det, inv, logdet, slogdet
    from tfdist.ops.linalg.least_squares import matrix_solve_ls as lstsq
    from tfdist.ops.linalg.lu import lu
    from tfdist.ops.linalg.matrix_functions import expm, logm, sqrtm
    from tfdist.ops.linalg.norms import norm, normalize
    from tfdist.ops.linalg.operators.circulant import (
        LinearOperatorCirculant,
        LinearOperatorCirculant2D,
        LinearOperatorCirculant3D,
    )
    from tfdist.ops.linalg.operators.dense import (
        LinearOperatorFullMatrix,
        LinearOperatorLowerTriangular,
    )
    from tfdist.ops.linalg.operators.diagonal import (
        LinearOperatorDiag,
        LinearOperatorIdentity,
        LinearOperatorScaledIdentity,
        LinearOperatorZeros,
    )
    from tfdist.ops.linalg.operators.inversion import LinearOperatorAdjoint, LinearOperatorInversion
    from tfdist.ops.linalg.operators.joined import (
        LinearOperatorBlockDiag,
        LinearOperatorComposition,
        LinearOperatorKronecker,
    )
    from tfdist.ops.linalg.operators.linear_operator import LinearOperator
    from tfdist.ops.linalg.operators.structured import (
        LinearOperatorHouseholder,
        LinearOperatorLowRankUpdate,
        LinearOperatorToeplitz,
    )
    from tfdist.ops.linalg.products import adjoint, cross, trace
    from tfdist.ops.linalg.qr import qr
    from tfdist.ops.linalg.solve import matrix_solve as solve
    from tfdist.ops.linalg.solve import matrix_triangular_solve as triangular_solve
    from tfdist.ops.linalg.svd import matrix_rank, pinv, svd
    from tfdist.ops.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
    from tfdist.ops.math.clip import global_norm
    from tfdist.ops.math.matmul import matmul, matvec
    from tfdist.ops.math.tensordot import tensordot
    from tfdist.ops.nn.functions import l2_normalize

__getattr__, __dir__ = lazy(__name__, "tf.linalg")

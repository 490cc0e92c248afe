"""tf.linalg: matrices."""

from tfdist.ops.clip import global_norm
from tfdist.ops.decompositions import qr
from tfdist.ops.diagonals import diag as tensor_diag
from tfdist.ops.diagonals import diag_part as tensor_diag_part
from tfdist.ops.diagonals import matrix_band_part as band_part
from tfdist.ops.diagonals import matrix_diag as diag
from tfdist.ops.diagonals import matrix_diag_part as diag_part
from tfdist.ops.diagonals import matrix_set_diag as set_diag
from tfdist.ops.filling import eye
from tfdist.ops.linalg_cholesky import cholesky, cholesky_solve
from tfdist.ops.linalg_eigen import self_adjoint_eig as eigh
from tfdist.ops.linalg_eigen import self_adjoint_eigvals as eigvalsh
from tfdist.ops.linalg_einsum import einsum
from tfdist.ops.linalg_functions import expm, logm, sqrtm
from tfdist.ops.linalg_inverse import det, inv, logdet, slogdet
from tfdist.ops.linalg_least_squares import matrix_solve_ls as lstsq
from tfdist.ops.linalg_norms import norm, normalize
from tfdist.ops.linalg_operator import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorFullMatrix,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
)
from tfdist.ops.linalg_operators import (
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorKronecker,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from tfdist.ops.linalg_operators_structured import (
    LinearOperatorHouseholder,
    LinearOperatorLowRankUpdate,
    LinearOperatorToeplitz,
)
from tfdist.ops.linalg_products import adjoint, cross, trace
from tfdist.ops.linalg_singular import matrix_rank, pinv, svd
from tfdist.ops.linalg_solving import matrix_solve as solve
from tfdist.ops.linalg_solving import matrix_triangular_solve as triangular_solve
from tfdist.ops.linalg_triangular import lu
from tfdist.ops.linalg_tridiagonal import tridiagonal_matmul, tridiagonal_solve
from tfdist.ops.linear import matmul, matvec
from tfdist.ops.nn import l2_normalize
from tfdist.ops.tensordot import tensordot
from tfdist.ops.transposing import matrix_transpose
from tfdist.ops.transposing import matrix_transpose as transpose
from tfdist.programs.missing import told

__getattr__ = told("tf.linalg")

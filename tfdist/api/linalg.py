"""tf.linalg: matrices."""

from tfdist.ops.clip import norm
from tfdist.ops.decompositions import qr
from tfdist.ops.diagonals import matrix_band_part as band_part
from tfdist.ops.diagonals import matrix_diag as diag
from tfdist.ops.diagonals import matrix_diag_part as diag_part
from tfdist.ops.diagonals import matrix_set_diag as set_diag
from tfdist.ops.filling import eye
from tfdist.ops.linear import matmul, matvec, tensordot
from tfdist.ops.shaping import matrix_transpose as transpose
from tfdist.programs.missing import told

__getattr__ = told("tf.linalg")

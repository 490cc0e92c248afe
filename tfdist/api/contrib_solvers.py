"""tf.contrib.solvers: linear equations and least squares, by products with the matrix alone."""

from types import SimpleNamespace

from tfdist.models import contrib_solvers as util
from tfdist.programs.missing import told

least_squares = SimpleNamespace(cgls=util.cgls)
linear_equations = SimpleNamespace(conjugate_gradient=util.conjugate_gradient)

__getattr__ = told("tf.contrib.solvers")

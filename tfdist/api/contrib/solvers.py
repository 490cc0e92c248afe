"""tf.contrib.solvers: linear equations and least squares, by products with the matrix alone."""

# mypy: implicit-reexport

from tfdist.models.contrib import solvers as util
from tfdist.programs.missing import space, told

least_squares = space("tf.contrib.solvers.least_squares", cgls=util.cgls)
linear_equations = space(
    "tf.contrib.solvers.linear_equations", conjugate_gradient=util.conjugate_gradient
)

__getattr__ = told("tf.contrib.solvers")

"""tf.resource_loader: files that lie beside a program."""

from tfdist.programs.missing import told
from tfdist.programs.resources import *

__getattr__ = told("tf.resource_loader")

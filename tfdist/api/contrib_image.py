"""tf.contrib.image: images turned, moved and warped."""

from tfdist.models.contrib_image import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.image")

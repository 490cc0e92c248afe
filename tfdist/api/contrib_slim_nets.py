"""tf.contrib.slim.nets: image classifiers."""

from tfdist.models import slim_alexnet as alexnet
from tfdist.models import slim_inception as inception
from tfdist.models import slim_overfeat as overfeat
from tfdist.models import slim_resnet_utils as resnet_utils
from tfdist.models import slim_resnet_v1 as resnet_v1
from tfdist.models import slim_resnet_v2 as resnet_v2
from tfdist.models import slim_vgg as vgg
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.slim.nets")

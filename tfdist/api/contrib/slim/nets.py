"""tf.contrib.slim.nets: image classifiers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.slim import (
        alexnet,
        inception,
        overfeat,
        resnet_utils,
        resnet_v1,
        resnet_v2,
        vgg,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.slim.nets")

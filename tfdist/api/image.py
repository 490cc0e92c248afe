"""tf.image: images read, resized, cropped, turned, coloured, compared."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.convolution.patches import extract_image_patches, extract_patches
    from tfdist.ops.image.adjust import *
    from tfdist.ops.image.boxes import *
    from tfdist.ops.image.colour_spaces import *
    from tfdist.ops.image.combined_non_max_suppression import *
    from tfdist.ops.image.convert_dtype import *
    from tfdist.ops.image.crop_and_pad import *
    from tfdist.ops.image.crop_and_pad import resize_image_with_crop_or_pad
    from tfdist.ops.image.crop_and_pad import (
        resize_image_with_crop_or_pad as resize_with_crop_or_pad,
    )
    from tfdist.ops.image.crop_and_resize import *
    from tfdist.ops.image.decode_image import *
    from tfdist.ops.image.flip_and_rotate import *
    from tfdist.ops.image.flip_and_rotate import transpose_image
    from tfdist.ops.image.flip_and_rotate import transpose_image as transpose
    from tfdist.ops.image.jpeg import *
    from tfdist.ops.image.non_max_suppression import *
    from tfdist.ops.image.png_gif_bmp import *
    from tfdist.ops.image.quality import *
    from tfdist.ops.image.resize_images import *
    from tfdist.ops.image.resize_images import resize_images
    from tfdist.ops.image.resize_images import resize_images as resize
    from tfdist.ops.image.resize_ops import *
    from tfdist.ops.random.random_ops import random_crop

__getattr__, __dir__ = lazy(__name__, "tf.image")

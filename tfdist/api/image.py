"""tf.image: images read, resized, cropped, turned, coloured, compared."""

from tfdist.ops.image_adjust import *
from tfdist.ops.image_boxes import *
from tfdist.ops.image_colours import *
from tfdist.ops.image_cropping import *
from tfdist.ops.image_cropping import resize_image_with_crop_or_pad
from tfdist.ops.image_crops import *
from tfdist.ops.image_decoding import *
from tfdist.ops.image_dtypes import *
from tfdist.ops.image_files import *
from tfdist.ops.image_flips import *
from tfdist.ops.image_flips import transpose_image
from tfdist.ops.image_jpeg import *
from tfdist.ops.image_measures import *
from tfdist.ops.image_resize import *
from tfdist.ops.image_resizing import *
from tfdist.ops.image_resizing import resize_images
from tfdist.ops.image_suppression import *
from tfdist.ops.image_suppression_combined import *
from tfdist.ops.patches import extract_image_patches, extract_patches
from tfdist.ops.random import random_crop
from tfdist.programs.missing import told

resize = resize_images
resize_with_crop_or_pad = resize_image_with_crop_or_pad
transpose = transpose_image

__getattr__ = told("tf.image")

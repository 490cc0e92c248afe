"""The samples of images."""

from __future__ import annotations

import base64

import numpy as np

from .values import floats, ints


def pixels(*shape):
    """Return different float32 numbers from 0 to 1, in no order."""
    count = int(np.prod(shape))
    values = (np.arange(count) * 37 % 101 + np.arange(count) / 128) / 102
    return values.astype(np.float32).reshape(shape)


def file(text):
    """Return a file, given in base64, as a string []."""
    array = np.empty((), object)
    array[()] = base64.b64decode(text)
    return array


IMAGES = pixels(2, 3, 4, 3)
SIZE = ints(5, 6)
HALF = {"half_pixel_centers": True}
CORNERS = {"align_corners": True}
WAYS = ({}, CORNERS, HALF)
BOXES = np.float32([[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, 0.25, 0.1], [0.05, 0.3, 0.75, 0.95]])
WHICH = ints(1, 0, 1)
CROP = {"method": "bilinear", "extrapolation_value": 0.5}
SCORES = np.float32([0.5, 0.9, 0.7])
CORNER_BOXES = np.float32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [5, 5, 6, 6]])
THIRD = np.float32(0.3)
LEAST = np.float32(0.1)
OVERLAPS = np.float32([[1, 0.6, 0], [0.6, 1, 0], [0, 0, 1]])
BYTES = (pixels(3, 4, 1) * 255).astype(np.uint8)
OBJECTS = np.float32([[[0.1, 0.2, 0.8, 0.7]]])
# 3 x 2 pixels of colour; of GIF, the same twice
PNG = file(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAHUlEQVR4nGPgOiFnY/SBISrAjZGJmeE/QwPLLzYAPI"
    "UFyOBytwYAAAAASUVORK5CYII="
)
JPEG = file(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIx"
    "wcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIy"
    "MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAADAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xA"
    "AdEAACAgIDAQAAAAAAAAAAAAABAwACBBEFBhQh/8QAFQEBAQAAAAAAAAAAAAAAAAAABgf/xAAdEQACAgEFAAAAAAAA"
    "AAAAAAABAgMEAAVBQlHR/9oADAMBAAIRAxEAPwCVPWOKyULe1WRZjai9z62jZI2fgtqIiCptSurIyrMwAJ5H3Jzfu2"
    "UtSqsjABjuezn/2Q=="
)
GIF = file(
    "R0lGODdhAgADAIIAAAT6BgrIHlpQRjwy8P8AgAECAwAAAAAAACwAAAAAAgADAAAICQADDBBQgACAgAAh+QQBAAAGAC"
    "wAAAAAAgADAIIE+gYKyB5aUEY8MvD/AIABAgMAAAAAAAAICQAJADBgIMCAgAA7"
)
BMP = file(
    "Qk1OAAAAAAAAADYAAAAoAAAAAgAAAAMAAAABABgAAAAAABgAAADEDgAAxA4AAAAAAAAAAAAAgAD/BvoEAABGUFoDAg"
    "EAAB7ICvAyPAAA"
)
GREY = floats(2, 3, 4, 1)
SHEARED = np.float32([[1, 0.1, 0.3, 0.2, 1, -0.4, 0.01, 0.02]])
EACH = np.float32([[1, 0, 1, 0, 1, 0, 0, 0], [0.9, 0.2, -0.3, -0.1, 1.1, 0.2, 0, 0]])
PLACES = np.float32([[[0.3, 1.2], [2.6, 0.4], [-0.4, 1.7]], [[3.3, 0.6], [1.1, 1.3], [5.0, 0.2]]])
CLASS_BOXES = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]] * 2).reshape(2, 3, 1, 4)
CLASS_SCORES = np.float32([[0.9, 0.2], [0.75, 0.8], [0.6, 0.3]] * 2).reshape(2, 3, 2)

SAMPLES = {
    # image/resize_ops.py
    "ResizeBilinear": [(IMAGES, SIZE, way) for way in WAYS],
    "ResizeBicubic": [(IMAGES, SIZE, way) for way in WAYS],
    "ResizeNearestNeighbor": [(IMAGES, SIZE, way) for way in WAYS],
    "ResizeArea": [(IMAGES, SIZE, way) for way in WAYS[:2]] + [(IMAGES, ints(2, 3))],
    "ResizeBilinearGrad": [(pixels(2, 5, 6, 3), IMAGES, way) for way in WAYS],
    "ResizeBicubicGrad": [(pixels(2, 5, 6, 3), IMAGES, way) for way in WAYS],
    "ResizeNearestNeighborGrad": [(pixels(2, 5, 6, 3), ints(3, 4), way) for way in WAYS],
    # image/crop_and_resize.py
    "CropAndResize": [(IMAGES, BOXES, WHICH, SIZE, CROP),
                      (IMAGES, BOXES, WHICH, ints(1, 2), {"method": "nearest"})],
    "CropAndResizeGradImage": (pixels(3, 5, 6, 3), BOXES, WHICH, ints(2, 3, 4, 3),
                               {"T": "float32"}),
    "CropAndResizeGradBoxes": (pixels(3, 5, 6, 3), IMAGES, BOXES, WHICH),
    "ExtractGlimpse": (IMAGES, ints(2, 3), np.float32([[0.1, 0.0], [-0.2, 0.1]])),
    # image/colour_spaces.py
    "RGBToHSV": (pixels(2, 4, 3),),
    "HSVToRGB": (pixels(2, 4, 3),),
    "AdjustHue": (pixels(2, 4, 3), THIRD),
    "AdjustSaturation": (pixels(2, 4, 3), THIRD),
    "AdjustContrastv2": (IMAGES, THIRD),
    # image/boxes.py
    "DrawBoundingBoxes": (IMAGES, np.concatenate([BOXES, BOXES[::-1]]).reshape(2, 3, 4)),
    "DrawBoundingBoxesV2": (IMAGES, np.concatenate([BOXES, BOXES[::-1]]).reshape(2, 3, 4),
                            pixels(2, 3)),
    "SampleDistortedBoundingBox": (ints(50, 60, 3), OBJECTS, {"seed": 1}),
    "SampleDistortedBoundingBoxV2": (ints(50, 60, 3), OBJECTS, LEAST, {"seed": 1}),
    # image/non_max_suppression.py
    "NonMaxSuppression": (CORNER_BOXES, SCORES, np.int32(2)),
    "NonMaxSuppressionV2": (CORNER_BOXES, SCORES, np.int32(2), THIRD),
    "NonMaxSuppressionV3": (CORNER_BOXES, SCORES, np.int32(2), THIRD, LEAST),
    "NonMaxSuppressionV4": (CORNER_BOXES, SCORES, np.int32(4), THIRD, LEAST,
                            {"pad_to_max_output_size": True}),
    "NonMaxSuppressionV5": (CORNER_BOXES, SCORES, np.int32(4), np.float32(0.9), LEAST, THIRD,
                            {"pad_to_max_output_size": True}),
    "NonMaxSuppressionWithOverlaps": (OVERLAPS, SCORES, np.int32(2), THIRD, LEAST),
    # image/png_gif_bmp.py
    "DecodePng": [(PNG,), (PNG, {"channels": 4, "dtype": "uint16"})],
    "DecodeJpeg": (JPEG, {"channels": 1}),
    "DecodeAndCropJpeg": (JPEG, ints(1, 0, 1, 2), {"channels": 1}),
    "ExtractJpegShape": (JPEG,),
    "DecodeGif": (GIF,),
    "DecodeBmp": (BMP, {"channels": 3}),
    "EncodePng": (BYTES,),
    "EncodeJpeg": (BYTES,),
    "EncodeJpegVariableQuality": (BYTES, np.int32(50)),
    # image/projective_transforms.py
    "ImageProjectiveTransform": [
        (GREY, SHEARED, {"interpolation": "NEAREST"}),
        (GREY, EACH, {"interpolation": "BILINEAR"}),
    ],
    "ImageProjectiveTransformV2": [
        (GREY, SHEARED, ints([3, 4]), {"interpolation": "BILINEAR"}),
        (GREY, EACH, ints([5, 2]), {"interpolation": "NEAREST"}),
    ],
    # image/resampler.py
    "Resampler": (GREY, PLACES),
    "ResamplerGrad": (GREY, PLACES, floats(2, 3, 1, start=0.6)),
    # image/scale_and_translate.py
    "ScaleAndTranslate": [
        (floats(1, 4, 3, 2), ints([2, 5]), np.float32([0.45, 1.65]), np.float32([0.1, -0.1]),
         {"kernel_type": kernel, "antialias": smooth})
        for kernel, smooth in (("lanczos3", True), ("lanczos1", False), ("gaussian", True),
                               ("box", True), ("keyscubic", True), ("mitchellcubic", False))
    ],
    "ScaleAndTranslateGrad": (floats(1, 2, 5, 2), floats(1, 4, 3, 2), np.float32([0.45, 1.65]),
                              np.float32([0.1, -0.1]), {"kernel_type": "triangle"}),
    # image/combined_non_max_suppression.py
    "CombinedNonMaxSuppression": [
        (CLASS_BOXES, CLASS_SCORES, ints(2), ints(5), np.float32(0.5), np.float32(0.25)),
        (CLASS_BOXES, CLASS_SCORES, ints(1), ints(5), np.float32(0.5), np.float32(0.25),
         {"pad_per_class": True})],
}  # fmt: skip

"""Calls of tf.image's functions that real TensorFlow and ours make: nodes and values.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/ops/differential.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/image/image_calls.py > tests/ops/image/expected_images_1_15.json
"""

from __future__ import annotations

import os
import re
import sys

# One expression a line, which goes on where the next one is indented; `x(2, 5)` is a constant of
# floats, `p(2, 5)` one from 0 to 1, `b(2, 5)` one of bytes, `u(2, 5)` and `n(2, 5)` floats of
# unknown dimensions and of unknown rank.
CALLS = """
tf.image.resize_images(x(2, 3, 4, 3), [5, 6])
tf.image.resize_images(x(3, 4, 3), [5, 6], tf.image.ResizeMethod.NEAREST_NEIGHBOR)
tf.image.resize_images(b(3, 4, 3), [5, 6], method=tf.image.ResizeMethod.BICUBIC)
tf.image.resize_images(x(2, 3, 4, 3), [2, 3], tf.image.ResizeMethod.AREA)
tf.image.resize_images(x(2, 3, 4, 3), tf.stack([5, 6]), align_corners=True)
tf.image.resize_images(x(2, 3, 4, 3), [3, 4])
tf.image.resize_images(x(2, 3, 4, 3), [7, 8], preserve_aspect_ratio=True)
tf.image.resize_images(u(2, 3, 4, 3), [7, 8])
tf.image.resize_images(n(2, 3, 4, 3), [7, 8])
tf.image.resize_images(x(3, 4), [7, 8])
tf.image.resize_images(x(3, 4, 3), [7])
tf.image.resize_images(x(3, 4, 3), [7, 8], method=9)
tf.image.resize(x(3, 4, 3), [7, 8], name="r")
tf.image.resize_bilinear(x(2, 3, 4, 3), [5, 7])
tf.image.resize_bilinear(x(2, 3, 4, 3), [5, 7], align_corners=True)
tf.image.resize_bilinear(x(2, 3, 4, 3), [5, 7], half_pixel_centers=True)
tf.image.resize_bicubic(x(2, 3, 4, 3), [5, 7])
tf.image.resize_bicubic(x(2, 3, 4, 3), [5, 7], align_corners=True)
tf.image.resize_bicubic(x(2, 3, 4, 3), [5, 7], half_pixel_centers=True)
tf.image.resize_bicubic(x(2, 7, 8, 1), [3, 5], half_pixel_centers=True)
tf.image.resize_nearest_neighbor(x(2, 3, 4, 3), [5, 7])
tf.image.resize_nearest_neighbor(x(2, 3, 4, 3), [5, 7], align_corners=True)
tf.image.resize_nearest_neighbor(x(2, 3, 4, 3), [5, 7], half_pixel_centers=True)
tf.image.resize_nearest_neighbor(x(2, 7, 8, 1), [3, 5], half_pixel_centers=True)
tf.image.resize_area(x(2, 7, 8, 1), [3, 5])
tf.image.resize_area(x(2, 3, 4, 3), [5, 7])
tf.image.resize_area(x(2, 7, 8, 1), [3, 5], align_corners=True)
tf.image.resize_bilinear(x(2, 3, 4, 3), [0, 7])
tf.image.resize_bilinear(x(3, 4, 3), [1, 7])
tf.image.resize_image_with_pad(x(3, 4, 3), 6, 5)
tf.image.resize_image_with_pad(x(2, 3, 4, 3), 6, 5)
gradient(lambda t: tf.image.resize_bilinear(t, [5, 7]), np.ones([2, 3, 4, 3]))
gradient(lambda t: tf.image.resize_bilinear(t, [5, 7], align_corners=True), np.ones([2, 3, 4, 3]))
gradient(lambda t: tf.image.resize_bicubic(t, [5, 7]), np.ones([2, 3, 4, 3]))
gradient(lambda t: tf.image.resize_bicubic(t, [5, 7], half_pixel_centers=True), np.ones([2, 3, 4,
    3]))
gradient(lambda t: tf.image.resize_nearest_neighbor(t, [5, 7]), np.ones([2, 3, 4, 3]))
gradient(lambda t: tf.image.resize_nearest_neighbor(t, [5, 7], half_pixel_centers=True),
    np.ones([2, 3, 4, 3]))
tf.image.resize_images(x(2, 3, 4, 3), [5, 6], "area")
v2.image.resize(x(2, 3, 4, 3), [5, 6])
v2.image.resize(x(3, 4, 3), [2, 2], "bicubic")
v2.image.resize(x(3, 4, 3), [2, 2], "bicubic", antialias=True)
v2.image.resize(x(2, 3, 4, 3), [3, 4], "lanczos3")
v2.image.resize(b(3, 4, 3), [5, 3], "lanczos5", antialias=True)
v2.image.resize(b(3, 4, 3), [5, 3], "nearest")
v2.image.resize(b(3, 4, 3), [5, 3], "area", antialias=True)
v2.image.resize(x(2, 7, 8, 1), [3, 5], "gaussian", antialias=True)
v2.image.resize(u(2, 7, 8, 1), [3, 5], "mitchellcubic", preserve_aspect_ratio=True)
v2.image.resize_with_pad(x(2, 3, 4, 3), 6, 5, "bilinear")
v2.image.resize_with_pad(x(3, 4, 3), 2, 5, "bilinear", antialias=True)
v2.image.extract_glimpse(x(1, 4, 4, 1), [4, 6], [[0.0, 0.0]], noise="zero")
tf.image.extract_glimpse(x(2, 4, 4, 1), [0, 3], [[0.0, 0.0], [0.5, 0.5]])
tf.image.resize_image_with_crop_or_pad(x(5, 6, 3), 3, 8)
tf.image.resize_image_with_crop_or_pad(x(2, 5, 6, 3), 8, 3)
tf.image.resize_image_with_crop_or_pad(u(5, 6, 3), 3, 8)
tf.image.resize_image_with_crop_or_pad(u(2, 5, 6, 3), 3, 8)
tf.image.resize_image_with_crop_or_pad(x(5, 6, 3), 0, 8)
tf.image.resize_image_with_crop_or_pad(x(5, 6), 3, 8)
tf.image.resize_with_crop_or_pad(x(5, 6, 3), 3, 8)
tf.image.crop_to_bounding_box(x(5, 6, 3), 1, 2, 3, 4)
tf.image.crop_to_bounding_box(u(2, 5, 6, 3), 1, 2, 3, 4)
tf.image.crop_to_bounding_box(x(5, 6, 3), 3, 2, 3, 4)
tf.image.crop_to_bounding_box(u(5, 6, 3), 3, 2, 3, 4)
tf.image.pad_to_bounding_box(x(5, 6, 3), 1, 2, 9, 8)
tf.image.pad_to_bounding_box(u(2, 5, 6, 3), 1, 2, 9, 8)
tf.image.pad_to_bounding_box(x(5, 6, 3), 1, 2, 4, 8)
tf.image.central_crop(x(5, 6, 3), 0.5)
tf.image.central_crop(x(2, 5, 6, 3), 0.7)
tf.image.central_crop(u(5, 6, 3), 0.5)
tf.image.central_crop(x(5, 6, 3), 1.0)
tf.image.central_crop(x(5, 6, 3), 0.0)
tf.image.random_crop(x(5, 6, 3), [2, 3, 3])
tf.random_crop(x(5, 6, 3), [2, 3, 3], seed=3)
tf.image.flip_left_right(x(3, 4, 2))
tf.image.flip_left_right(u(2, 3, 4, 2))
tf.image.flip_left_right(n(3, 4, 2))
tf.image.flip_up_down(x(2, 3, 4, 2))
tf.image.flip_up_down(x(3, 4))
tf.image.random_flip_left_right(x(3, 4, 2), seed=1)
tf.image.random_flip_up_down(x(2, 3, 4, 2), seed=1)
tf.image.rot90(x(3, 4, 2))
tf.image.rot90(x(2, 3, 4, 2), k=3)
tf.image.rot90(x(3, 4, 2), k=2, name="turn")
tf.image.transpose_image(x(3, 4, 2))
tf.image.transpose(x(2, 3, 4, 2))
tf.image.adjust_brightness(x(3, 4, 3), 0.25)
tf.image.adjust_brightness(b(3, 4, 3), 0.25)
tf.image.random_brightness(x(3, 4, 3), 0.25, seed=1)
tf.image.random_brightness(x(3, 4, 3), -0.25)
tf.image.adjust_contrast(x(3, 4, 3), 0.5)
tf.image.adjust_contrast(x(2, 3, 4, 3), 2.0)
tf.image.adjust_contrast(b(3, 4, 3), 0.5)
tf.image.random_contrast(x(3, 4, 3), 0.5, 0.9, seed=1)
tf.image.random_contrast(x(3, 4, 3), 0.5, 0.4)
tf.image.adjust_hue(p(3, 4, 3), 0.2)
tf.image.adjust_hue(p(2, 3, 4, 3), -0.4)
tf.image.adjust_hue(b(3, 4, 3), 0.2)
tf.image.random_hue(p(3, 4, 3), 0.2, seed=1)
tf.image.random_hue(p(3, 4, 3), 0.7)
tf.image.adjust_saturation(p(3, 4, 3), 0.5)
tf.image.adjust_saturation(p(3, 4, 3), 2.0)
tf.image.adjust_saturation(b(3, 4, 3), 0.5)
tf.image.random_saturation(p(3, 4, 3), 0.5, 0.9, seed=1)
tf.image.random_saturation(p(3, 4, 3), -0.5, 0.9)
tf.image.adjust_gamma(p(3, 4, 3), 2.0, 1.5)
tf.image.adjust_gamma(b(3, 4, 3), 0.5)
tf.image.adjust_gamma(p(3, 4, 3), -2.0)
tf.image.adjust_gamma(p(3, 4, 3), tf.constant(2.0))
tf.image.per_image_standardization(x(3, 4, 3))
tf.image.per_image_standardization(b(2, 3, 4, 3))
tf.image.per_image_standardization(tf.ones([3, 4, 3]))
tf.image.rgb_to_grayscale(x(3, 4, 3))
tf.image.rgb_to_grayscale(b(3, 4, 3))
tf.image.rgb_to_grayscale(u(2, 3, 4, 3))
tf.image.grayscale_to_rgb(x(3, 4, 1))
tf.image.grayscale_to_rgb(b(2, 3, 4, 1))
tf.image.rgb_to_hsv(p(3, 4, 3))
tf.image.rgb_to_hsv(x(3, 4, 2))
tf.image.hsv_to_rgb(p(3, 4, 3))
tf.image.rgb_to_yiq(p(3, 4, 3))
tf.image.yiq_to_rgb(p(3, 4, 3))
tf.image.rgb_to_yuv(p(3, 4, 3))
tf.image.yuv_to_rgb(p(3, 4, 3))
tf.image.convert_image_dtype(b(3, 4, 3), tf.float32)
tf.image.convert_image_dtype(p(3, 4, 3), tf.uint8)
tf.image.convert_image_dtype(x(3, 4, 3), tf.uint8, saturate=True)
tf.image.convert_image_dtype(b(3, 4, 3), tf.uint16)
tf.image.convert_image_dtype(b(3, 4, 3), tf.int16)
tf.image.convert_image_dtype(tf.constant([300, 40000], tf.uint16), tf.uint8)
tf.image.convert_image_dtype(tf.constant([-300, 30000], tf.int16), tf.uint8, saturate=True)
tf.image.convert_image_dtype(p(3, 4, 3), tf.float16, name="c")
tf.image.convert_image_dtype(p(3, 4, 3), tf.float32)
tf.image.total_variation(x(3, 4, 2))
tf.image.total_variation(x(2, 3, 4, 2))
tf.image.total_variation(x(3, 4))
tf.image.draw_bounding_boxes(p(2, 8, 9, 3), [[[0.1, 0.2, 0.8, 0.7], [0.3, -0.5, 0.5, 1.5]]] * 2)
tf.image.draw_bounding_boxes(p(1, 8, 9, 4), [[[0.1, 0.2, 0.8, 0.7]]], colors=[[0.5, 0.25, 1.0,
    0.75]])
tf.image.draw_bounding_boxes(p(1, 8, 9, 1), [[[0.1, 0.2, 0.8, 0.7]] * 2], name="d")
tf.image.sample_distorted_bounding_box([5, 6, 3], [[[0.1, 0.2, 0.8, 0.7]]], seed=1)
tf.image.sample_distorted_bounding_box([5, 6, 3], [[[0.1, 0.2, 0.8, 0.7]]],
    min_object_covered=0.5, aspect_ratio_range=[0.5, 2.0], area_range=[0.1, 1.0], max_attempts=9,
    use_image_if_no_bounding_boxes=True)
tf.image.non_max_suppression(boxes, scores, 3)
tf.image.non_max_suppression(boxes, scores, 4, iou_threshold=0.2, score_threshold=0.3)
tf.image.non_max_suppression_padded(boxes, scores, 6, pad_to_max_output_size=True)
tf.image.non_max_suppression_with_scores(boxes, scores, 5, soft_nms_sigma=0.5)
tf.image.non_max_suppression_with_scores(boxes, scores, 5)
tf.image.non_max_suppression_overlaps(np.eye(6, dtype=np.float32) * 0.5 + 0.3, scores, 4, 0.2)
tf.image.non_max_suppression_overlaps(np.eye(6, dtype=np.float32) * 0.5 + 0.3, scores, 4, 0.4, 0.3)
tf.image.crop_and_resize(p(2, 5, 6, 3), [[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, -0.2, 0.1]], [1, 0], [3,
    4])
tf.image.crop_and_resize(p(2, 5, 6, 3), [[0.1, -0.2, 0.9, 1.3], [0.8, 0.9, 0.2, 0.1]], [1, 0], [3,
    4], "nearest", 0.5)
tf.image.crop_and_resize(p(2, 5, 6, 3), [[0.1, 0.2, 0.9, 0.7]], box_indices=[1], crop_size=[1, 1])
tf.image.crop_and_resize(p(2, 5, 6, 3), [[0.1, 0.2, 0.9, 0.7]], [2], [1, 1])
gradient(lambda t: tf.image.crop_and_resize(t, [[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, -0.2, 0.1]], [1,
    0], [3, 4]), np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.image.crop_and_resize(p(2, 5, 6, 3), t, [1, 0], [3, 4]), [[0.1, 0.2, 0.9,
    0.7], [0.8, 0.9, -0.2, 0.1]])
tf.image.extract_glimpse(x(2, 5, 6, 3), [3, 4], [[0.0, 0.0], [0.25, -0.25]])
tf.image.extract_glimpse(x(2, 5, 6, 3), [3, 4], [[0.2, 0.1], [0.25, 0.5]], centered=False)
tf.image.extract_glimpse(x(2, 5, 6, 3), [3, 4], [[1.0, 2.0], [-1.0, 0.0]], normalized=False)
tf.image.extract_glimpse(x(2, 5, 6, 3), [3, 4], [[1.0, 2.0], [3.0, 0.0]], centered=False,
    normalized=False)
tf.image.psnr(p(2, 8, 9, 3), p(2, 8, 9, 3) * 0.5, 1.0)
tf.image.psnr(b(8, 9, 3), b(8, 9, 3) // 2, 255)
tf.image.ssim(p(2, 16, 17, 3), p(2, 16, 17, 3) * 0.5, 1.0)
tf.image.ssim(p(16, 17, 1), p(16, 17, 1) * 0.9 + 0.05, 1.0, filter_size=5)
tf.image.ssim(p(8, 9, 1), p(8, 9, 1), 1.0)
tf.image.ssim_multiscale(p(1, 64, 65, 1), p(1, 64, 65, 1) * 0.9, 1.0, filter_size=4)
tf.image.image_gradients(x(2, 3, 4, 2))
tf.image.image_gradients(x(3, 4, 2))
tf.image.sobel_edges(x(2, 3, 4, 2))
tf.image.is_jpeg(b"\\xff\\xd8\\xff123")
tf.image.decode_image(png, 3)
tf.image.decode_png(png)
tf.image.decode_png(png, channels=1)
tf.image.decode_png(png, channels=4)
tf.image.decode_png(png, dtype=tf.uint16)
tf.image.decode_png(deep)
tf.image.decode_png(deep, dtype=tf.uint16)
tf.image.decode_png(grey)
tf.image.decode_png(grey, channels=3)
tf.image.decode_png(alpha)
tf.image.decode_png(alpha, channels=3)
tf.image.decode_png(alpha, channels=1)
tf.image.decode_png(palette)
tf.image.decode_png(b"nothing")
tf.image.decode_png(b"")
tf.image.decode_png(gif)
tf.image.decode_jpeg(png)
tf.image.decode_gif(gif)
tf.image.decode_gif(png)
tf.image.decode_bmp(bmp)
tf.image.decode_bmp(bmp, channels=3)
tf.image.decode_bmp(bmp, channels=4)
tf.image.decode_bmp(b"BMshort")
tf.image.decode_image(png)
tf.image.decode_image(gif)
tf.image.decode_image(bmp)
tf.image.decode_image(gif, expand_animations=False)
tf.image.decode_image(png, dtype=tf.float32)
tf.image.decode_image(b"nothing")
tf.image.decode_png(tf.image.encode_png(b(3, 4, 2)))
tf.image.decode_png(tf.image.encode_png(b(3, 4, 5)))
tf.image.decode_jpeg(jpeg)
tf.image.decode_jpeg(jpeg, channels=1)
tf.image.decode_jpeg(jpeg, ratio=2)
tf.image.decode_jpeg(jpeg, fancy_upscaling=False, dct_method="INTEGER_ACCURATE")
tf.image.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE")
tf.image.decode_jpeg(jpeg, channels=2)
tf.image.decode_jpeg(jpeg, channels=4)
tf.image.decode_jpeg(b"\\xff\\xd8\\xff nothing")
tf.image.decode_png(jpeg)
tf.image.decode_and_crop_jpeg(jpeg, [1, 2, 5, 6])
tf.image.decode_and_crop_jpeg(jpeg, [1, 2, 50, 6])
tf.image.extract_jpeg_shape(jpeg)
tf.image.extract_jpeg_shape(jpeg, tf.int64)
tf.image.decode_jpeg(tf.image.encode_jpeg(b(8, 9, 3)))
tf.image.decode_jpeg(tf.image.encode_jpeg(b(8, 9, 1), quality=50))
tf.image.decode_jpeg(tf.image.encode_jpeg(b(8, 9, 3), quality=80, chroma_downsampling=False))
tf.image.encode_jpeg(b(8, 9, 2))
tf.image.adjust_jpeg_quality(p(8, 9, 3), 50)
"""

# Small files of images, in base64.
FILES = {
    "png": (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAHElEQVR4nGNkYGAQhiEWBnEGBgZWCIJzuBgYuAAMgw"
        "CZyvV/EAAAAABJRU5ErkJggg=="
    ),
    "grey": (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAAAAACRn/EaAAAAF0lEQVR4nGNgYGBgYGRgZWVlYWDl4gIAAMMALtnNOE"
        "QAAAAASUVORK5CYII="
    ),
    "alpha": (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAYAAAC09K7GAAAAJElEQVR4nGNkYGBgEGZg4IJhFgZxBi4GBlY4RhLg4m"
        "Jg4OICABoKAQd+hAUFAAAAAElFTkSuQmCC"
    ),
    "palette": (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADBAMAAABG2rP1AAAAD1BMVEUmLhQmFwoAIwAmAAAAAABWn1DyAAAAEUlEQV"
        "R4nGN0/sCo+IHp/3sAEBgENzYODiMAAAAASUVORK5CYII="
    ),
    "deep": (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADEAAAAADBDy1ZAAAAHklEQVR4nGNggAJGBga2rexb2bcyMTCwb+XNEpEHAC"
        "AhA5291OTkAAAAAElFTkSuQmCC"
    ),
    "bmp": (
        "Qk1mAAAAAAAAADYAAAAoAAAABQAAAAMAAAABABgAAAAAADAAAADEDgAAxA4AAAAAAAAAAAAAAC4ACi4TFC4mHi45KC"
        "5MAAAXAAUXEwoXJg8XORQXTAAAAAAAABMAACYAADkAAEwA"
    ),
    "jpeg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDg"
        "sLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
        "FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAALAA0DASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAw"
        "QFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkK"
        "FhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmq"
        "KjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEB"
        "AQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRob"
        "HBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE"
        "hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+P"
        "n6/9oADAMBAAIRAxEAPwD5v+HP7OX2zyv9FznH8Ne++Hv2d7EWeBZyTY6tHGCP1Ir274e6HYDRGItkBwoyM9CwBr3P"
        "TtHs4LSGOOARp5YbCErkkn0+gr4PEZ9TwWApV50VJyhGbbV370pRSSeityttu97pJLVnL4a+ImYSp2Tf3+R//9k="
    ),
    "gif": (
        "R0lGODdhBAADAIMAADkuHiYuFBMuCjkXDyYXChMXBQAuAAAXADkAACYAABMAAAAAAAAAAAAAAAAAAAAAACwAAAAABA"
        "ADAAAIEAAXKEiA4EABAgMMCAgAICAAIfkEAQAADAAsAAAAAAQAAwCDOYpaJoo8E4oeOXNLJnMyE3MZAIoAAHMAOVw8"
        "JlwoE1wUAFwAAAAAAAAAAAAAAAAACBAAFyhIgOBAAQIDDAgIACAgADs="
    ),
}

OTHERS = {
    "boxes": "np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], "
    "[1, 10.1, 0, 11.1], [0, 100, 1, 101]], np.float32)",
    "scores": "np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)",
}


# Calls that fail, there and here with the same class of error and the same first words.
ERRORS = """
tf.image.resize_bilinear(x(2, 3, 4, 3), [5, 7], align_corners=True, half_pixel_centers=True)
tf.image.resize_bicubic(x(2, 3, 4, 3), [5, 7], align_corners=True, half_pixel_centers=True)
tf.image.resize_bilinear(x(2, 3, 4, 3), [5])
tf.image.resize_bilinear(n(3, 4, 3), [5, 5])
tf.image.resize_area(x(2, 3, 4, 3), unknown([5]))
tf.image.resize_area(x(2, 3, 4, 3), unknown(5))
v2.image.resize(n(3, 4, 3), [5, 5])
v2.image.resize(x(3, 4), [5, 5])
v2.image.resize(x(3, 4, 3), [5, 5], "foo")
v2.image.extract_glimpse(x(1, 4, 4, 1), [4, 6], [[0.0, 0.0]], noise="foo")
tf.image.central_crop(n(5, 6, 3), 0.5)
tf.image.grayscale_to_rgb(x(3, 4, 3))
tf.image.draw_bounding_boxes(x(2, 4, 5, 3), [[[0.1, 0.2, 0.9, 0.8]]])
tf.image.sample_distorted_bounding_box([50, 60], [[[0.1, 0.2, 0.9, 0.8]]])
tf.image.sample_distorted_bounding_box([50, 60, 3], [[[0.1, 0.2, 0.9]]])
"""


def calls(table):
    """Return the lines of a table."""
    return [line for line in table.replace("\n    ", " ").splitlines() if line]


def spelled_out(source):
    """Return a call with its tensors in full: whole numbers, whose sums are exact."""
    whole = r"(np.arange(np.prod([\1])).reshape(\1) * 5 % 7 - 3).astype(np.float32)"
    parts = r"(np.arange(np.prod([\1])).reshape(\1) * 37 % 101 / 128).astype(np.float32)"
    octets = r"(np.arange(np.prod([\1])).reshape(\1) * 37 % 253).astype(np.uint8)"
    source = re.sub(r"\bx\(([\d, ]+)\)", "tf.constant(" + whole + ")", source)
    source = re.sub(r"\bp\(([\d, ]+)\)", "tf.constant(" + parts + ")", source)
    source = re.sub(r"\bb\(([\d, ]+)\)", "tf.constant(" + octets + ")", source)
    source = re.sub(r"\bn\(([\d, ]+)\)", r"unknown(" + whole + r", None)", source)
    names = "|".join([*FILES, *OTHERS])
    source = re.sub(rf"\b({names})\b(?=[,)])", named, source)
    return re.sub(r"\bu\(([\d, ]+)\)", r"unknown(" + whole + r", [None] * len([\1]))", source)


def named(match):
    """Return what a name of `FILES` or `OTHERS` stands for."""
    name = match.group(0)
    return OTHERS.get(name) or '__import__("base64").b64decode("%s")' % FILES[name]  # noqa: UP031


def main():
    """Write what this Python's TensorFlow makes of everything."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from differential import say_all

    say_all({source: spelled_out(source) for source in calls(CALLS) + calls(ERRORS)})


if __name__ == "__main__":
    main()

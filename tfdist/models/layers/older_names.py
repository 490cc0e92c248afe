"""Older names of layers, in the modules of tensorflow.python.layers: convolution2d for conv2d."""

from __future__ import annotations

from tfdist.models.layers import convolutional, core, normalization, pooling
from tfdist.models.layers import transposed_separable as transposed

__all__ = [
    "AvgPool2D", "BatchNorm", "Convolution1D", "Convolution2D", "Convolution2DTranspose",
    "Convolution3D", "Convolution3DTranspose", "Deconv2D", "Deconv3D", "Deconvolution2D",
    "Deconvolution3D", "FullyConnected", "MaxPool2D", "SeparableConvolution2D", "avg_pool2d",
    "batch_norm", "convolution1d", "convolution2d", "convolution2d_transpose", "convolution3d",
    "convolution3d_transpose", "deconv2d", "deconv3d", "deconvolution2d", "deconvolution3d",
    "fully_connected", "max_pool2d", "separable_convolution2d",
]  # fmt: skip

Convolution1D, convolution1d = convolutional.Conv1D, convolutional.conv1d
Convolution2D, convolution2d = convolutional.Conv2D, convolutional.conv2d
Convolution3D, convolution3d = convolutional.Conv3D, convolutional.conv3d
SeparableConvolution2D, separable_convolution2d = (
    transposed.SeparableConv2D,
    transposed.separable_conv2d,
)
Deconv2D = Deconvolution2D = Convolution2DTranspose = transposed.Conv2DTranspose
deconv2d = deconvolution2d = convolution2d_transpose = transposed.conv2d_transpose
Deconv3D = Deconvolution3D = Convolution3DTranspose = transposed.Conv3DTranspose
deconv3d = deconvolution3d = convolution3d_transpose = transposed.conv3d_transpose

FullyConnected, fully_connected = core.Dense, core.dense
BatchNorm, batch_norm = normalization.BatchNormalization, normalization.batch_normalization
AvgPool2D, avg_pool2d = pooling.AveragePooling2D, pooling.average_pooling2d
MaxPool2D, max_pool2d = pooling.MaxPooling2D, pooling.max_pooling2d

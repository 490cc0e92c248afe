"""Layers of tf.keras, each with the shapes of its inputs; run by tfdist, and by TensorFlow.

As a program, `python layer_cases.py > layer_expectations.json` stores what TensorFlow 1.15.5 says.
"""

import json
import sys

import numpy as np

# Name of the case -> (expression that makes the layer, shapes of its inputs). The layer's weights
# and inputs are numbers of a fixed row.
CASES = {
    "Dense": ("L.Dense(3)", [(4,)]),
    "Dense of more axes": ("L.Dense(3, activation='tanh', use_bias=False)", [(2, 4)]),
    "Dense with all": (
        "L.Dense(3, 'relu', kernel_initializer='he_normal', bias_initializer='ones',"
        " kernel_regularizer='l2', bias_regularizer=keras.regularizers.l1(0.1),"
        " kernel_constraint='max_norm', bias_constraint=keras.constraints.non_neg())",
        [(4,)],
    ),
    "Flatten": ("L.Flatten()", [(2, 3)]),
    "Flatten channels first": ("L.Flatten(data_format='channels_first')", [(2, 3, 2)]),
    "Reshape": ("L.Reshape((3, -1))", [(2, 6)]),
    "Permute": ("L.Permute((2, 1))", [(2, 3)]),
    "RepeatVector": ("L.RepeatVector(3)", [(2,)]),
    "Dropout": ("L.Dropout(0.3, noise_shape=(None, 1), seed=3)", [(4,)]),
    "SpatialDropout1D": ("L.SpatialDropout1D(0.3)", [(3, 4)]),
    "SpatialDropout2D": ("L.SpatialDropout2D(0.3)", [(3, 4, 2)]),
    "SpatialDropout3D": ("L.SpatialDropout3D(0.3)", [(3, 4, 2, 2)]),
    "GaussianNoise": ("L.GaussianNoise(0.3)", [(4,)]),
    "GaussianDropout": ("L.GaussianDropout(0.3)", [(4,)]),
    "AlphaDropout": ("L.AlphaDropout(0.3)", [(4,)]),
    "Activation": ("L.Activation('sigmoid')", [(4,)]),
    "Activation selu": ("L.Activation('selu')", [(4,)]),
    "Activation hard_sigmoid": ("L.Activation('hard_sigmoid')", [(4,)]),
    "Activation exponential": ("L.Activation('exponential')", [(4,)]),
    "Activation softsign": ("L.Activation('softsign')", [(4,)]),
    "ActivityRegularization": ("L.ActivityRegularization(l1=0.1, l2=0.2)", [(4,)]),
    "ReLU": ("L.ReLU(max_value=0.5, negative_slope=0.1, threshold=0.2)", [(4,)]),
    "ReLU plain": ("L.ReLU()", [(4,)]),
    "ReLU of six": ("L.ReLU(6.0)", [(4,)]),
    "LeakyReLU": ("L.LeakyReLU(0.2)", [(4,)]),
    "PReLU": ("L.PReLU('ones', shared_axes=[1])", [(3, 4)]),
    "ELU": ("L.ELU(0.7)", [(4,)]),
    "ThresholdedReLU": ("L.ThresholdedReLU(0.2)", [(4,)]),
    "Softmax": ("L.Softmax(axis=1)", [(3, 4)]),
    "Embedding": ("L.Embedding(5, 3, input_length=2)", [(2,)]),
    "Embedding masked": ("L.Embedding(5, 3, mask_zero=True)", [(2,)]),
    "Conv1D": ("L.Conv1D(3, 2, activation='relu')", [(6, 2)]),
    "Conv1D causal": ("L.Conv1D(3, 2, padding='causal', dilation_rate=2)", [(6, 2)]),
    "Conv2D": ("L.Conv2D(3, (2, 3), padding='same', strides=2)", [(6, 5, 2)]),
    "Conv2D dilated": ("L.Conv2D(3, 2, dilation_rate=2, use_bias=False)", [(6, 5, 2)]),
    "Conv3D": ("L.Conv3D(2, 2)", [(3, 4, 3, 2)]),
    "Conv2DTranspose": ("L.Conv2DTranspose(3, 3, strides=2)", [(3, 4, 2)]),
    "Conv2DTranspose same": ("L.Conv2DTranspose(3, 3, strides=2, padding='same')", [(3, 4, 2)]),
    "Conv2DTranspose with more": (
        "L.Conv2DTranspose(3, 3, strides=2, padding='same', output_padding=1)", [(3, 4, 2)],
    ),
    "Conv3DTranspose": ("L.Conv3DTranspose(2, 2, strides=2)", [(2, 3, 2, 2)]),
    "SeparableConv1D": ("L.SeparableConv1D(3, 2, depth_multiplier=2)", [(6, 2)]),
    "SeparableConv2D": ("L.SeparableConv2D(3, 2, padding='same')", [(5, 4, 2)]),
    "DepthwiseConv2D": ("L.DepthwiseConv2D(2, depth_multiplier=2, activation='relu')", [(5, 4, 2)]),
    "MaxPooling1D": ("L.MaxPooling1D()", [(6, 2)]),
    "MaxPooling2D": ("L.MaxPooling2D((2, 3), padding='same')", [(6, 5, 2)]),
    "MaxPooling3D": ("L.MaxPool3D()", [(4, 4, 2, 2)]),
    "AveragePooling1D": ("L.AveragePooling1D(3, 2)", [(6, 2)]),
    "AveragePooling2D": ("L.AvgPool2D(strides=1)", [(6, 5, 2)]),
    "AveragePooling3D": ("L.AveragePooling3D()", [(4, 4, 2, 2)]),
    "GlobalMaxPooling1D": ("L.GlobalMaxPooling1D()", [(6, 2)]),
    "GlobalMaxPooling2D": ("L.GlobalMaxPool2D()", [(3, 4, 2)]),
    "GlobalMaxPooling3D": ("L.GlobalMaxPooling3D()", [(3, 4, 2, 2)]),
    "GlobalAveragePooling1D": ("L.GlobalAveragePooling1D()", [(6, 2)]),
    "GlobalAveragePooling2D": ("L.GlobalAveragePooling2D('channels_first')", [(3, 4, 2)]),
    "GlobalAveragePooling3D": ("L.GlobalAveragePooling3D()", [(3, 4, 2, 2)]),
    "ZeroPadding1D": ("L.ZeroPadding1D((1, 2))", [(3, 2)]),
    "ZeroPadding2D": ("L.ZeroPadding2D(((1, 0), (2, 1)))", [(3, 2, 2)]),
    "ZeroPadding3D": ("L.ZeroPadding3D((1, 2, 1))", [(3, 2, 2, 2)]),
    "Cropping1D": ("L.Cropping1D(1)", [(4, 2)]),
    "Cropping2D": ("L.Cropping2D(((1, 0), (0, 2)))", [(4, 5, 2)]),
    "Cropping3D": ("L.Cropping3D(1)", [(4, 5, 3, 2)]),
    "UpSampling1D": ("L.UpSampling1D(3)", [(3, 2)]),
    "UpSampling2D": ("L.UpSampling2D((2, 3))", [(3, 2, 2)]),
    "UpSampling2D bilinear": ("L.UpSampling2D(2, interpolation='bilinear')", [(3, 2, 2)]),
    "UpSampling3D": ("L.UpSampling3D()", [(2, 3, 2, 2)]),
    "BatchNormalization": ("L.BatchNormalization()", [(4,)]),
    "BatchNormalization fused": ("L.BatchNormalization(scale=False)", [(3, 2, 4)]),
    "LayerNormalization": ("L.LayerNormalization()", [(3, 4)]),
    "LayerNormalization of axes": ("L.LayerNormalization(axis=[1, 2], center=False)", [(3, 4)]),
    "Add": ("L.Add()", [(4,), (4,), (4,)]),
    "Add broadcast": ("L.Add()", [(3, 4), (4,)]),
    "Subtract": ("L.Subtract()", [(4,), (4,)]),
    "Multiply": ("L.Multiply()", [(4,), (4,)]),
    "Average": ("L.Average()", [(4,), (4,)]),
    "Maximum": ("L.Maximum()", [(4,), (4,)]),
    "Minimum": ("L.Minimum()", [(4,), (4,)]),
    "Concatenate": ("L.Concatenate(axis=1)", [(2, 3), (4, 3)]),
    "Dot": ("L.Dot(axes=1)", [(4,), (4,)]),
    "Dot of more axes": ("L.Dot(axes=(2, 1), normalize=True)", [(3, 4), (4, 2)]),
    "Masking": ("L.Masking(0.5)", [(3, 2)]),
    "Lambda": ("L.Lambda(keras.backend.square, name='squared')", [(4,)]),
    "SimpleRNN": ("L.SimpleRNN(3)", [(5, 2)]),
    "LSTM": ("L.LSTM(3)", [(5, 2)]),
    "LSTM sequences": ("L.LSTM(3, return_sequences=True, return_state=True)", [(5, 2)]),
    "LSTM implementation 2": ("L.LSTM(3, implementation=2, unit_forget_bias=False)", [(5, 2)]),
    "LSTM unrolled": ("L.LSTM(3, unroll=True, go_backwards=True)", [(5, 2)]),
    "LSTM of a mask": ("Chain(L.Masking(0.25), L.LSTM(3, return_sequences=True))", [(5, 2)]),
    "GRU": ("L.GRU(3)", [(5, 2)]),
    "GRU reset after": ("L.GRU(3, reset_after=True, implementation=2)", [(5, 2)]),
    "RNN of a cell": ("L.RNN(L.LSTMCell(3))", [(5, 2)]),
    "RNN of cells": ("L.RNN([L.GRUCell(3), L.SimpleRNNCell(2)])", [(5, 2)]),
    "Bidirectional": ("L.Bidirectional(L.LSTM(3, return_sequences=True))", [(5, 2)]),
    "Bidirectional sum": ("L.Bidirectional(L.GRU(3), merge_mode='sum')", [(5, 2)]),
    "TimeDistributed": ("L.TimeDistributed(L.Dense(3))", [(5, 2)]),
    "ConvLSTM2D": ("L.ConvLSTM2D(2, 2)", [(3, 4, 3, 2)]),
    "Attention": ("L.Attention(use_scale=True)", [(2, 4), (3, 4)]),
    "AdditiveAttention": ("L.AdditiveAttention()", [(2, 4), (3, 4)]),
}  # fmt: skip


def row(shape, start=0.0):
    """Return an array of numbers between -1 and 1 that repeat never."""
    size = int(np.prod(shape))
    return np.sin(np.arange(size) * 0.7 + start).reshape(shape).astype("float32")


def integers(shape):
    """Return an array of the numbers 0 to 4."""
    return (np.arange(int(np.prod(shape))) % 5).reshape(shape).astype("float32")


def answer(tf, expression, shapes):
    """Return what a layer is, and what it gives."""
    keras = tf.keras
    keras.backend.clear_session()

    def chain(*layers):
        return keras.Sequential(list(layers))

    layer = eval(expression, {"L": keras.layers, "keras": keras, "Chain": chain})
    inputs = [keras.layers.Input(shape) for shape in shapes]
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    flat = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    layer.set_weights([row(w.shape, 1.0) ** 2 for w in layer.get_weights()])
    make = integers if "Embedding" in expression else row
    feeds = [make((2, *shape)) for shape in shapes]
    values = keras.backend.function(inputs, list(flat))(feeds)
    return {
        "config": _plain(layer.get_config()),
        "weights": [[w.name, w.shape.as_list()] for w in layer.weights],
        "trained": len(layer.trainable_weights),
        "shape": [t.shape.as_list() for t in flat],
        "values": [np.asarray(v, "float64").round(5).ravel().tolist() for v in values],
    }


def _listed(value):
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _plain(value):
    """Return a configuration as JSON keeps it; a Lambda's code differs between Pythons."""
    text = json.dumps(value, default=_listed)
    found = json.loads(text)
    return {"name": found["name"]} if "function" in found else found


def main():
    """Print what TensorFlow says of all cases."""
    import tensorflow as tf

    tf.logging.set_verbosity("ERROR")
    found = {}
    for name, (expression, shapes) in CASES.items():
        try:
            found[name] = answer(tf, expression, shapes)
        except Exception as error:
            sys.stderr.write(f"{name}: {type(error).__name__} {error}\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()

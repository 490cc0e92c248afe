"""The samples of activations, normalization, losses and recurrent blocks."""

from __future__ import annotations

import numpy as np

from .values import floats, i32, i64, ints, spread

F3, F23, F234 = floats(3, start=0.7), floats(2, 3), floats(2, 3, 4)
SMALL = F23 / 2
OTHER = floats(2, 3, start=0.55)
I23 = ints([[7, 8, -9], [4, 5, 6]])
LABELS = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], np.float32)
X = spread(2, 5, 6, 3)
C3, POSITIVE = spread(3, start=0.7), np.array([0.5, 1.5, 2.5], np.float32)
NONE = np.zeros(0, np.float32)
TRAINING, INFERENCE = {"epsilon": 0.001}, {"epsilon": 0.001, "is_training": False}
NEIGHBOURS = {"depth_radius": 1, "bias": 1.5, "alpha": 0.5, "beta": 0.75}
L = spread(2, 1, 3, 4)
N = 1.5 + 0.5 * np.stack([np.square(L[..., max(0, c - 1) : c + 2]).sum(-1) for c in range(4)], -1)
TRUE = np.array([[5, 1], [7, 5], [0, 8]])
DRAWS = {"num_true": 2, "num_sampled": 4, "unique": True, "seed": 1}
STATE = floats(2, 3), floats(2, 3, start=0.7)
WEIGHTS = floats(7, 12), floats(3), floats(3, start=0.5), floats(3, start=0.9), floats(12)
GATES = [floats(2, 3, start=0.1 * k) for k in range(6)]
LONG_GATES = [floats(5, 2, 3, start=0.1 * k) for k in range(7)]
GRU = floats(2, 4), STATE[0], floats(7, 6), floats(7, 3), floats(6), floats(3)
IDS = np.int32([[[1, 2, 3]] * 2, [[4, 5, 6]] * 2, [[7, 8, 9]] * 2, [[2, 1, 3]] * 2])
PARENTS = np.int32([[[0, 0, 0]] * 2, [[2, 0, 1]] * 2, [[1, 1, 0]] * 2, [[0, 2, 1]] * 2])
CTC_LABELS = i64([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]]), i32([0, 0, 1, 2, 1, 1])
CTC_SCORES = (3 * np.sin(7 * np.arange(96))).astype(np.float32).reshape(8, 3, 4)

SAMPLES = {
    # nn/activations.py
    "Relu": [(F23,), (I23,)],
    "ReluGrad": (OTHER, F23),
    "Relu6": (F23 * 9,),
    "Relu6Grad": (OTHER, F23 * 9),
    "Elu": (F23,),
    "EluGrad": (OTHER, SMALL),
    "Selu": (F23,),
    "SeluGrad": (OTHER, F23),
    "Softplus": (F23,),
    "SoftplusGrad": (OTHER, F23),
    "Softsign": (F23,),
    "SoftsignGrad": (OTHER, F23),
    "LeakyRelu": (F23, {"alpha": 0.1}),
    "LeakyReluGrad": (OTHER, F23, {"alpha": 0.1}),
    # nn/softmax.py
    "Softmax": [(F23,), (F234,)],
    "LogSoftmax": [(F23,), (F234,)],
    # nn/cross_entropy.py
    "SoftmaxCrossEntropyWithLogits": (F23, LABELS),
    "SparseSoftmaxCrossEntropyWithLogits": [(F23, ints([2, 0])), (F23, np.array([2, 0]))],
    # nn/bias.py
    "BiasAdd": [(F23, F3), (F234, floats(3), {"data_format": "NCHW"})],
    "BiasAddV1": (F23, F3),
    "BiasAddGrad": [(F23,), (F234, {"data_format": "NCHW"})],
    "L2Loss": (F23,),
    # nn/batch_normalization.py
    "FusedBatchNorm": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormV2": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormV3": (X, C3, POSITIVE, NONE, NONE, TRAINING),
    "FusedBatchNormGrad": [(X * X, X, C3, POSITIVE, POSITIVE, attrs)
                           for attrs in (TRAINING, INFERENCE)],
    "FusedBatchNormGradV2": (X * X, X, C3, POSITIVE, POSITIVE, TRAINING),
    "FusedBatchNormGradV3": (X * X, X, C3, POSITIVE, POSITIVE, np.float32(0), TRAINING),
    # nn/candidate_sampling.py
    "AllCandidateSampler": (TRUE, DRAWS),
    "ComputeAccidentalHits": (TRUE, np.array([5, 8, 7, 5]), {"num_true": 2}),
    "FixedUnigramCandidateSampler": (TRUE, dict(DRAWS, range_max=9, unigrams=[1.0, 2.0, 0.5] * 3)),
    "LogUniformCandidateSampler": (TRUE, dict(DRAWS, range_max=9)),
    "UniformCandidateSampler": (TRUE, dict(DRAWS, range_max=9)),
    # nn/local_response_normalization.py
    "LRN": [(L, NEIGHBOURS), (L,)],
    "LRNGrad": (spread(*L.shape, start=0.1), L, (L * N**-0.75).astype(np.float32), NEIGHBOURS),
    # nn/gather_tree.py
    "GatherTree": (IDS, PARENTS, np.int32([4, 2]), np.int32(5)),
    # nn/rnn_blocks.py
    "LSTMBlockCell": [(floats(2, 4), *STATE, *WEIGHTS),
                      (floats(2, 4), *STATE, *WEIGHTS,
                       {"forget_bias": 0.5, "cell_clip": 0.4, "use_peephole": True})],
    "LSTMBlockCellGrad": [(floats(2, 4), *STATE, *WEIGHTS, *GATES, *STATE, {"use_peephole": True}),
                          (floats(2, 4), *STATE, *WEIGHTS, *GATES, *STATE,
                           {"use_peephole": False})],
    "BlockLSTM": [(np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS),
                  (np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS,
                   {"forget_bias": 0.5, "cell_clip": 0.4, "use_peephole": True})],
    "BlockLSTMGrad": [(np.int64(5), floats(5, 2, 4), *STATE, *WEIGHTS, *LONG_GATES,
                       floats(5, 2, 3), floats(5, 2, 3, start=0.6), {"use_peephole": True}),
                      (np.int64(3), floats(5, 2, 4), *STATE, *WEIGHTS, *LONG_GATES,
                       floats(5, 2, 3), floats(5, 2, 3, start=0.6), {"use_peephole": False})],
    "GRUBlockCell": GRU,
    "GRUBlockCellGrad": (*GRU, *GATES[:3], floats(2, 3, start=0.6)),
    # nn/ctc_loss.py
    "CTCLoss": [
        (2 * floats(5, 3, 4), *CTC_LABELS, i32([5, 3, 4])),
        (2 * floats(5, 3, 4), *CTC_LABELS, i32([4, 5, 2]), {"ctc_merge_repeated": False}),
        (2 * floats(5, 3, 4), *CTC_LABELS, i32([1, 5, 5]),
         {"ignore_longer_outputs_than_inputs": True, "preprocess_collapse_repeated": True}),
    ],
    # nn/ctc_decode.py
    "CTCGreedyDecoder": [
        (CTC_SCORES, i32([8, 2, 5])), (CTC_SCORES, i32([0, 8, 8]), {"merge_repeated": True})
    ],
    "CTCBeamSearchDecoder": [
        (CTC_SCORES, i32([8, 2, 5]), {"beam_width": 5, "top_paths": 3, "merge_repeated": False}),
        (CTC_SCORES, i32([0, 8, 8]), {"beam_width": 9, "top_paths": 1}),
    ],
}  # fmt: skip

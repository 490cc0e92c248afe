"""tf.contrib: what of it is here."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.contrib import (
        all_reduce,
        autograph,
        cluster_resolver,
        crf,
        cudnn_rnn,
        data,
        deprecated,
        distribute,
        distributions,
        eager,
        estimator,
        framework,
        graph_editor,
        image,
        layers,
        learn,
        legacy_seq2seq,
        lookup,
        losses,
        metrics,
        nn,
        opt,
        predictor,
        resampler,
        rnn,
        seq2seq,
        session_bundle,
        signal,
        slim,
        solvers,
        sparsemax,
        staging,
        stateless,
        summary,
        tensorboard,
        tfprof,
        tpu,
        training,
        util,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib")

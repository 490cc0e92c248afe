"""tf.contrib.session_bundle: exports for serving, as before SavedModels."""

# mypy: implicit-reexport

from tfdist.programs.missing import space, told
from tfdist.protos import pb
from tfdist.training.session_bundle import constants, exporter, gc, session_bundle

manifest_pb2 = space(
    "tf.contrib.session_bundle.manifest_pb2",
    AssetFile=pb.AssetFile,
    ClassificationSignature=pb.ClassificationSignature,
    GenericSignature=pb.GenericSignature,
    RegressionSignature=pb.RegressionSignature,
    Signature=pb.Signature,
    Signatures=pb.Signatures,
    TensorBinding=pb.TensorBinding,
)

__getattr__ = told("tf.contrib.session_bundle")

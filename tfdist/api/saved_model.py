"""tf.saved_model: graphs with their variables and files, for serving."""

# mypy: implicit-reexport

from types import ModuleType

from tfdist.programs.missing import space, told
from tfdist.training.saved_model import names as _names
from tfdist.training.saved_model.builder import SavedModelBuilder, main_op_with_restore, simple_save
from tfdist.training.saved_model.builder import main_op as _main_op
from tfdist.training.saved_model.loader import load, maybe_saved_model_directory
from tfdist.training.saved_model.names import *
from tfdist.training.saved_model.signatures import (
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    get_tensor_from_tensor_info,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)

Builder = SavedModelBuilder
contains_saved_model = maybe_saved_model_directory

builder = space("tf.saved_model.builder", SavedModelBuilder=SavedModelBuilder)
loader = space(
    "tf.saved_model.loader", load=load, maybe_saved_model_directory=maybe_saved_model_directory
)
main_op = space(
    "tf.saved_model.main_op", main_op=_main_op, main_op_with_restore=main_op_with_restore
)
signature_def_utils = space(
    "tf.saved_model.signature_def_utils",
    build_signature_def=build_signature_def,
    classification_signature_def=classification_signature_def,
    is_valid_signature=is_valid_signature,
    predict_signature_def=predict_signature_def,
    regression_signature_def=regression_signature_def,
)
utils = space(
    "tf.saved_model.utils",
    build_tensor_info=build_tensor_info,
    get_tensor_from_tensor_info=get_tensor_from_tensor_info,
)


def _named(path: str, *starts: str) -> ModuleType:
    """Return the names that begin so, as a namespace of their own."""
    found = {name: value for name, value in vars(_names).items() if name.startswith(starts)}
    return space(f"tf.saved_model.{path}", **found)


constants = _named("constants", "ASSETS", "LEGACY", "MAIN", "SAVED_MODEL", "VARIABLES")
tag_constants = _named("tag_constants", "SERVING", "TRAINING", "GPU", "TPU")
signature_constants = _named("signature_constants", "CLASSIFY", "DEFAULT", "PREDICT", "REGRESS")

__getattr__ = told("tf.saved_model")

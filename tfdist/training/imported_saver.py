"""What a MetaGraph tells of a saver: kept, so that it is there when the graph is written again."""

from __future__ import annotations

from typing import Any, NoReturn

from tfdist.protos import pb

_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


class ImportedSaver:
    """A saver of an imported graph: the names of its nodes.

    Args:
      saver_def: a SaverDef message.
      import_scope: put before its names.
    """

    def __init__(self, saver_def: Any, import_scope: str | None = None) -> None:
        self.saver_def = pb.SaverDef()
        self.saver_def.CopyFrom(pb.reparse(saver_def))
        for field in _NAMES if import_scope else ():
            setattr(self.saver_def, field, f"{import_scope}/{getattr(self.saver_def, field)}")

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> ImportedSaver:
        """Return the saver that a SaverDef describes."""
        return ImportedSaver(saver_def, import_scope)

    def as_saver_def(self) -> Any:
        """Return its SaverDef."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return its SaverDef; None if it is not in the scope `export_scope`, which is cut off."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.saver_def.save_tensor_name.startswith(prefix):
            return None
        proto = ImportedSaver(self.saver_def).saver_def
        for field in _NAMES:
            setattr(proto, field, getattr(proto, field).removeprefix(prefix))
        return proto

    def save(self, *_: Any, **__: Any) -> NoReturn:
        """Raise NotImplementedError: there are no checkpoints yet."""
        _refuse("save")

    def restore(self, *_: Any, **__: Any) -> NoReturn:
        """Raise NotImplementedError: there are no checkpoints yet."""
        _refuse("restore")


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"tfdist cannot {what} checkpoints yet: this saver only keeps what the MetaGraph told"
    )

"""tf.contrib.tensorboard.plugins.projector: what TensorBoard's projector shows.

Source: TF 1.15 API documentation, tf.contrib.tensorboard.plugins.projector.
"""

from __future__ import annotations

import os
from typing import Any

from tfdist.formats.events import make_folder
from tfdist.protos import pb

ProjectorConfig = pb.ProjectorConfig
EmbeddingInfo = pb.EmbeddingInfo
SpriteMetadata = pb.SpriteMetadata


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Write what the projector shows into the folder of a FileWriter, projector_config.pbtxt.

    Args:
      summary_writer: a `tf.summary.FileWriter`.
      config: a ProjectorConfig.

    Raises:
      ValueError: the writer has no folder.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> config = contrib.tensorboard.plugins.projector.ProjectorConfig()
      >>> config.embeddings.add().tensor_name = "words"
      >>> with summary.FileWriter(folder) as writer:
      ...     contrib.tensorboard.plugins.projector.visualize_embeddings(writer, config)
      >>> "projector_config.pbtxt" in os.listdir(folder)
      True
    """
    folder = summary_writer.get_logdir()
    if not folder:
        raise ValueError("Summary writer must have a logdir")
    make_folder(folder)
    path = os.path.join(os.fsdecode(folder), "projector_config.pbtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(pb.to_text(config))

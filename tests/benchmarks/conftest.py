"""The files of this folder find each other as they do when they are run as scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

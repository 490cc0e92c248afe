"""The magics: a module for each noun; `jupyter/extension.py` lists them."""

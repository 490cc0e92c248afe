"""The reference types, `float32_ref` and so on: names of versions before 1.0."""

from tfdist.base.dtypes import REFERENCES

__all__ = list(REFERENCES)

globals().update(REFERENCES)

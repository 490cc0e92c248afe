"""Canned estimators: their models and heads."""

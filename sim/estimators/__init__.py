"""Formulas on arrays: no loop, nothing trained."""

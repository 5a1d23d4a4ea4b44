"""Formulas on arrays, without training loops."""

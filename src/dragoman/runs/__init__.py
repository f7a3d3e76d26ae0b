"""Whole runs: from raw text to a trained bundle, as ``dragoman train`` does it."""

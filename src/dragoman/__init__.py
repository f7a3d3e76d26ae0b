"""Dragoman: the Transformer of *Attention Is All You Need*, as a tool and as a text."""

__version__ = "0.1.0"

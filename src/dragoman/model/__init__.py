"""The model of the paper, one idea a file; ``transformer.py`` puts them together."""

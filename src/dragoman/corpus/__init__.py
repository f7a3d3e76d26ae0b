"""Sentence pairs: reading them from files, checking, cleaning, and corpora made on the spot.

Every reader gives an iterator of ``Pair``; ``reading.CorpusSource`` picks the reader by file name.
"""

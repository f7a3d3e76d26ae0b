"""A trained model in the formats of other programs, each compared with ours before it is done."""

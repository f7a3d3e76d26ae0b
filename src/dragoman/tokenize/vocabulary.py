"""The pieces a model knows and their numbers: piece <-> id, with four reserved ids.

PAD fills the short rows of a batch, BOS opens the decoder's input (shift right), EOS closes a
sentence, UNK stands for what the vocabulary lacks. They are defined here and nowhere else.
"""

PAD_ID = 0
BOS_ID = 1
EOS_ID = 2
UNK_ID = 3
SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")

"""The Transformer in plain NumPy: the same names and the same numbers as ``dragoman.model``.

Read it in the order of the paper:

    masks.py                 who may look at whom                                     (3.2.3)
    softmax.py               scores into shares, safely
    attention.py             softmax(QKᵀ/√d_k)V, and many heads of it                 (3.2)
    feed_forward.py          the position-wise network                                (3.3)
    embeddings.py            ids into vectors, vectors into logits                    (3.4)
    positional_encoding.py   where a token stands (rotary.py: the option beyond)      (3.5)
    layer_norm.py            keeping the numbers in range
    sublayer.py              residual and norm around every part                      (3.1)
    encoder.py decoder.py    the two stacks                                           (3.1)
    transformer.py           the whole model, with greedy decoding
    encoder_only.py          half of it: sentence embeddings and a classifier
    decoder_only.py          the other half: a language model
    label_smoothing.py       the loss, in both forms                                  (5.4)
    gradients.py             the backward pass of each block, by hand
    gradients_layers.py gradients_transformer.py   and so of a layer, and of a whole step
    numerical_gradient.py    the check that anyone can do
    initialize.py schedule.py adam.py   what training needs besides                   (5.3)

Nothing here is fast and nothing is hidden: every function takes arrays and gives back arrays, and
the parameters are one flat dict with the names that a bundle's ``model.safetensors`` uses.
"""

from dragoman.reference.transformer import Transformer

__all__ = ["Transformer"]

// The three kinds of attention in words.

export const TITLES = {
  "encoder.self": "Encoder self-attention",
  "decoder.self": "Decoder self-attention",
  "decoder.cross": "Cross-attention",
};

export const HINTS = {
  "encoder.self":
    "Each piece of the source gathers what it needs from every other piece (3.2.3). A row is the " +
    "piece that looks, a column what it looks at; a row adds up to 1, by the softmax of (3.2.1).",
  "decoder.self":
    "Before it says a piece, the decoder looks back at what it has said so far, and never ahead: " +
    "the empty corner is the causal mask (3.2.3). Its own words come in shifted right by one, " +
    "behind <s>.",
  "decoder.cross":
    "Before it says a piece, the decoder looks at the source (3.2.3, “encoder-decoder " +
    "attention”). A row is the piece about to be said, a column the piece of the source that it " +
    "looks at.",
};

export const HEADS_HINT =
  "Heads look in parallel, each through projections of its own (3.2.2). Switching one off puts " +
  "zeros in place of what it found, and shows what it was good for.";

/** The parts of an attention's name: `decoder.2.cross` is {kind: "decoder.cross", layer: 2}. */
export function placeOf(name) {
  const [stack, layer, what] = name.split(".");
  return { kind: `${stack}.${what}`, layer: Number(layer) };
}

/** One head in words, for the reader who counts from 1. */
export function headName(name, head) {
  const { kind, layer } = placeOf(name);
  return `${TITLES[kind]}, layer ${layer + 1}, head ${head + 1}`;
}

/** Where one looks, in words. */
export function lookName({ kind, layer, head, wide }) {
  const which = wide ? "mean of all heads" : `head ${head + 1}`;
  return `${TITLES[kind].toLowerCase()}, layer ${layer + 1}, ${which}`;
}

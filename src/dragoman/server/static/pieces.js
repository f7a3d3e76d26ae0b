// How pieces of words are written and spoken.

const SPECIAL = {
  "<s>": "start", "</s>": "end of sentence", "<unk>": "unknown", "<pad>": "padding",
};
const MARK = "\u2581"; // what SentencePiece puts before the first piece of a word
const BYTE = /^<0x([0-9A-F]{2})>$/; // how a character outside the vocabulary is spelled
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const STRONG = /\p{L}/u;

/** A piece as it is shown: without the mark of word beginnings, a byte as its two digits. */
export function shown(piece) {
  if (isSpecial(piece)) return piece;
  const byte = piece.match(BYTE);
  if (byte) return byte[1];
  const bare = piece.startsWith(MARK) ? piece.slice(1) : piece;
  return bare === "" ? "␣" : bare.replaceAll(MARK, "␣");
}

/** A piece as a screen reader should say it. */
export function spoken(piece) {
  if (BYTE.test(piece)) return `byte ${shown(piece)}`;
  return SPECIAL[piece] ?? (shown(piece) === "␣" ? "space" : shown(piece));
}

export const isSpecial = (piece) => piece in SPECIAL;

/** Special pieces and single bytes are no text; they are drawn dim. */
export const isDim = (piece) => isSpecial(piece) || BYTE.test(piece);

/** The direction of a text, by its first letter. */
export function direction(text) {
  const letter = [...text].find((char) => STRONG.test(char));
  return letter && RTL.test(letter) ? "rtl" : "ltr";
}

/** The decoder's inputs: the translation shifted right by one. */
export const inputs = (explanation) => ["<s>", ...explanation.target.pieces.slice(0, -1)];

/** What stands at the rows and columns of one kind of attention. */
export function axes(explanation, kind) {
  const { source, target } = explanation;
  if (kind === "encoder.self") return [source.pieces, source.pieces];
  return [target.pieces, kind === "decoder.cross" ? source.pieces : inputs(explanation)];
}

/** A share in percent, which stays on one line. */
export function percent(share) {
  const value = 100 * share;
  if (value === 0) return "0\u00a0%";
  if (value < 0.1) return "<\u00a00.1\u00a0%";
  return `${value.toFixed(value < 9.95 ? 1 : 0)}\u00a0%`;
}

/** A piece and its share of something. */
export const quoted = (piece, share) => `“${spoken(piece)}” ${percent(share)}`;

/** Pieces as running text. */
export function joined(pieces) {
  const spaced = (piece) => (piece.startsWith(MARK) ? ` ${shown(piece)}` : shown(piece));
  return pieces.filter((piece) => !isSpecial(piece)).map(spaced).join("").trim();
}

/** A number with a real minus sign and, if asked, a plus sign. */
export function signed(value, plus = false) {
  const text = Math.abs(value).toFixed(2);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : plus ? "+" : "") + text;
}

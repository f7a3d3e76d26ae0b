// Attention weights out of their base64 bytes, each table decoded when it is first looked at.

import { ramp } from "./palette.js";

const decoded = new WeakMap();

/** The table of one attention: {shape: [H, L, M], bytes}. */
export function table(explanation, name) {
  const packed = explanation.attention[name];
  if (!packed) return null;
  if (!decoded.has(packed)) {
    const text = atob(packed.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    decoded.set(packed, { shape: packed.shape, bytes });
  }
  return decoded.get(packed);
}

/** One weight; `head` null is the mean of all heads. */
export function weight({ shape: [heads, rows, columns], bytes }, head, row, column) {
  const at = (h) => bytes[(h * rows + row) * columns + column] / 255;
  if (head !== null) return at(head);
  let sum = 0;
  for (let h = 0; h < heads; h += 1) sum += at(h);
  return sum / heads;
}

/** What one row looks at: the weights of its columns. */
export function rowOf(found, head, row) {
  return Array.from({ length: found.shape[2] }, (_, column) => weight(found, head, row, column));
}

/** Who looks at one column: the weights of its rows. */
export function columnOf(found, head, column) {
  return Array.from({ length: found.shape[1] }, (_, row) => weight(found, head, row, column));
}

/** The strongest places of a row as [[column, weight], …]. */
export function strongest(weights, n) {
  return weights
    .map((value, column) => [column, value])
    .sort((a, b) => b[1] - a[1])
    .slice(0, n)
    .filter(([, value]) => value >= 0.005);
}

/** Paint one head, a pixel a weight; CSS makes the pixels as large as they should be. */
export function paint(canvas, { shape: [, rows, columns], bytes }, head) {
  canvas.width = columns;
  canvas.height = rows;
  const colours = Uint32Array.from(ramp(), ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer); // four bytes of a pixel at once
  const first = head * rows * columns;
  for (let i = 0; i < pixels.length; i += 1) pixels[i] = colours[bytes[first + i]];
  context.putImageData(image, 0, 0);
}

// Lines between the two sentences: thin ones for aligned words, ribbons as wide as the attention.

import { svg } from "./dom.js";

/** Draw all links anew, from where the pieces stand now. */
export function drawLinks({ links, source, target }, explanation, looks) {
  const frame = links.getBoundingClientRect();
  links.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  const [left, right] = [source, target].map(({ element }) => element.getBoundingClientRect());
  const curve = left.right <= right.left ? sideways : downwards; // narrow windows have two columns
  const path = (from, to) => curve(around(from, frame), around(to, frame));
  const ribbons = ribbonsOf(source.buttons, target.buttons, looks, path);
  const wordOf = (side, buttons, word) =>
    buttons.filter((_, index) => explanation[side].piece_words[index] === word);
  const lines = explanation.alignment.map((pair) => {
    const from = wordOf("source", source.buttons, pair[0]);
    const to = wordOf("target", target.buttons, pair[1]);
    if (!from.length || !to.length) return null;
    const kind = looks.aligned.includes(pair) ? " chosen" : looks.at ? " far" : "";
    return svg("path", { d: path(from, to), class: `link${kind}` });
  });
  links.replaceChildren(...ribbons, ...lines.filter(Boolean));
}

/** What the piece pointed at looks at on the other side, or who looks at it from there. */
function ribbonsOf(sources, targets, { at, source, target }, path) {
  const isSource = at?.side === "source";
  const weights = (at && (isSource ? target : source)) ?? [];
  return weights.flatMap((share, other) => {
    const [from, to] = isSource
      ? [sources[at.index], targets[other]]
      : [sources[other], targets[at.index]];
    if (share === 0 || !from || !to) return [];
    const width = (1 + 13 * share).toFixed(1);
    return [svg("path", { d: path([from], [to]), class: "ribbon", "stroke-width": width })];
  });
}

/** The box around some buttons, seen from the corner of the picture. */
function around(buttons, frame) {
  const boxes = [buttons[0], buttons.at(-1)].map((button) => button.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)) - frame.left;
  const right = Math.max(...boxes.map((box) => box.right)) - frame.left;
  const top = Math.min(...boxes.map((box) => box.top)) - frame.top;
  const bottom = Math.max(...boxes.map((box) => box.bottom)) - frame.top;
  return { left, right, top, bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
}

function downwards(from, to) {
  const middle = (from.bottom + to.top) / 2;
  return `M${from.x} ${from.bottom}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.top}`;
}

function sideways(from, to) {
  const middle = (from.right + to.left) / 2;
  return `M${from.right} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.left} ${to.y}`;
}

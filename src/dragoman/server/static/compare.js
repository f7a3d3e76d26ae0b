// What the reader changed, and what came of it: words gained and lost, and the price in log P.

import { byId, el, pushButton } from "./dom.js";
import { headName } from "./looks.js";
import { joined, signed } from "./pieces.js";

/** The words of two texts, [[word, "same" | "gone" | "new"], …], by their longest common part. */
export function difference(before, after) {
  const [a, b] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  const common = commonLengths(a, b);
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push([a[i], "same"]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      found.push([a[i], "gone"]);
      i += 1;
    } else {
      found.push([b[j], "new"]);
      j += 1;
    }
  }
  return found;
}

/** How many words the rests of both from (i, j) on have in common, in order. */
function commonLengths(a, b) {
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const skipping = Math.max(common[i + 1][j], common[i][j + 1]);
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : skipping;
    }
  }
  return common;
}

/** Draw the list of changes and keep it right. */
export function showChanges(store, actions) {
  const box = byId("changes");
  store.on(["explanation", "original", "whatIf"], ({ explanation, original, whatIf }) => {
    let lines = [];
    if (explanation && whatIf) lines = supposed(explanation, whatIf, actions);
    else if (explanation && original) lines = changed(explanation, original, actions);
    box.hidden = lines.length === 0;
    box.replaceChildren(...lines);
  });
}

/** Live: what was forced or switched off, and the new translation beside the old one. */
function changed(explanation, original, actions) {
  const chips = explanation.heads_off.map(([name, head]) => {
    const undo = () => actions.toggleHead(name, head);
    return chip(`${headName(name, head)}: off`, "Switch it on again", undo);
  });
  const { forced, pieces, text } = explanation.target;
  if (forced > 0) {
    const beginning = `begins with “${joined(pieces.slice(0, forced))}”`;
    chips.push(chip(beginning, "Let the model begin", () => actions.release()));
  }
  if (chips.length === 0) return [];
  return [
    el("p", { class: "chips" }, chips),
    differenceLine(original.target.text, text),
    price("log P", original.log_prob, explanation.log_prob),
  ];
}

/** Without a server: one change that was worked out when the file was written. */
function supposed(explanation, { title, text, change }, actions) {
  const { target, log_prob: before } = explanation;
  const lines = [
    el("p", { class: "chips" }, chip(title, "Back to the translation", () => actions.forget())),
    differenceLine(target.text, text),
  ];
  if (change !== null) lines.push(price("log P of the translation above", before, before + change));
  return lines;
}

/** Struck out what went, underlined what came. */
function differenceLine(before, after) {
  if (before === after) return el("p", { class: "difference" }, "The translation stays the same.");
  const tags = { same: "span", gone: "del", new: "ins" };
  const words = difference(before, after).map(([word, kind]) => [el(tags[kind], {}, word), " "]);
  return el("p", { class: "difference", dir: "auto" }, words.flat());
}

function chip(text, hint, undo) {
  const cross = el("span", { "aria-hidden": "true" }, " ×");
  return pushButton([text, cross], undo, { class: "chip", title: hint });
}

function price(what, before, after) {
  const change = signed(after - before, true);
  return el("p", { class: "small" }, `${what}: ${signed(before)} → ${signed(after)} (${change})`);
}

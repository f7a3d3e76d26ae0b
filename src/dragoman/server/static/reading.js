// The same attention for reading: a sentence, a scale of colours, a table.

import { el } from "./dom.js";
import { lookName } from "./looks.js";
import { ramp } from "./palette.js";
import { axes, percent, quoted, shown, spoken } from "./pieces.js";
import { attentionName } from "./state.js";
import { rowOf, strongest, table, weight } from "./weights.js";

const INVITATION = "Point at a cell, or reach the map by Tab and move with the arrow keys.";

/** What the marked row looks at, as a sentence. */
export function reading({ explanation, kind, layer, head, wide }, row, column) {
  if (row === null) return INVITATION;
  const [rows, columns] = axes(explanation, kind);
  const found = table(explanation, attentionName(kind, layer));
  const h = wide ? null : head;
  const who = `“${spoken(rows[row])}” looks at`;
  if (column !== null) {
    const share = percent(weight(found, h, row, column));
    return `${who} “${spoken(columns[column])}” with ${share} of its attention.`;
  }
  const best = strongest(rowOf(found, h, row), 3).map(([at, w]) => quoted(columns[at], w));
  return `${who} ${best.join(", ") || "nothing"}.`;
}

/** The ramp with its numbers. */
export function legend() {
  const canvas = el("canvas", { width: "256", height: "1" });
  const context = canvas.getContext("2d");
  for (let x = 0; x < 256; x += 1) {
    const byte = Math.round(255 * (x / 255) ** 2); // the ramp goes by the square root
    context.fillStyle = `rgb(${ramp()[byte].join(" ")})`;
    context.fillRect(x, 0, 1, 1);
  }
  const ticks = [0, 0.05, 0.25, 0.5, 1].map((share) =>
    el("span", { style: { "--at": Math.sqrt(share) } }, share === 0 ? "0" : `${100 * share} %`),
  );
  const scale = el("div", { class: "ticks" }, ticks);
  return el("div", { class: "legend", "aria-hidden": "true" }, canvas, scale);
}

/** For each row the three strongest places; made when it is opened. */
export function asTable({ explanation, kind, layer, head, wide }) {
  const [rows, columns] = axes(explanation, kind);
  const found = table(explanation, attentionName(kind, layer));
  const line = (piece, row) => {
    const best = strongest(rowOf(found, wide ? null : head, row), 3);
    const cells = [0, 1, 2].map((k) => el("td", {}, place(columns, best[k])));
    return el("tr", {}, el("th", { scope: "row" }, el("bdi", {}, shown(piece))), cells);
  };
  const body = el("tbody");
  const titles = ["Piece", "looks most at", "then", "then"];
  const top = el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)));
  const caption = el("caption", { class: "hidden" }, lookName({ kind, layer, head, wide }));
  const details = el(
    "details",
    { class: "as-table" },
    el("summary", {}, "The strongest links as a table"),
    el("table", {}, caption, el("thead", {}, top), body),
  );
  details.addEventListener("toggle", () => {
    if (details.open && !body.firstChild) body.append(...rows.map(line));
  });
  return details;
}

function place(columns, found) {
  if (!found) return ["–"];
  return [el("bdi", {}, shown(columns[found[0]])), ` ${percent(found[1])}`];
}

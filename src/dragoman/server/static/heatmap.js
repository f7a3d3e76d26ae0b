// One attention matrix, large: labels on both axes, a cell to point at by mouse, touch or arrows.

import { arrow, clamp, el } from "./dom.js";
import { isDim, shown } from "./pieces.js";
import { paint } from "./weights.js";

const SMALLEST = 12; // pixels of a cell; a longer sentence scrolls inside its box
const LARGEST = 38;

/**
 * A heat map: {element, mark(row, column)}. `onPoint(row, column)` hears where the reader points,
 * `onPoint(null)` that the pointer has left.
 */
export function createHeatmap({ rows, columns, table, head, label, onPoint }) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const [rowMark, columnMark, cellMark] = ["row", "column", "cell"].map((part) =>
    el("div", { class: `mark ${part}`, hidden: true }),
  );
  const field = el(
    "div",
    { class: "cells", tabindex: "0", role: "application", "aria-roledescription": "heat map" },
    [canvas, el("div", { class: "lines" }), rowMark, columnMark, cellMark],
  );
  field.setAttribute("aria-label", `${label}. Move with the arrow keys.`);
  const rowLabels = labels(rows, "row-labels");
  const columnLabels = labels(columns, "column-labels");
  const corner = el("div", { class: "corner" });
  const grid = el("div", { class: "map" }, corner, columnLabels, rowLabels, field);
  const element = el("div", { class: "map-box" }, grid);
  paint(canvas, table, head);
  fit(element, grid, columns.length);

  let at = [0, 0];
  const point = (row, column) => {
    at = [clamp(row, 0, rows.length - 1), clamp(column, 0, columns.length - 1)];
    onPoint(...at);
  };
  const follow = (event) => point(...cellUnder(event, field, rows.length, columns.length));
  const leave = () => onPoint(null);
  field.addEventListener("pointermove", follow);
  field.addEventListener("pointerdown", follow);
  field.addEventListener("pointerleave", leave);
  field.addEventListener("blur", leave);
  field.addEventListener("focus", () => field.matches(":focus-visible") && point(...at));
  field.addEventListener("keydown", (event) => {
    const step = arrow(event.key);
    if (!step) return;
    event.preventDefault();
    point(at[0] + step[1], at[1] + step[0]);
    cellMark.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  for (const [row, node] of [...rowLabels.children].entries()) {
    node.addEventListener("pointerenter", () => onPoint(row));
    node.addEventListener("pointerleave", leave);
  }

  return {
    element,
    mark(row, column) {
      rowMark.hidden = row === null;
      columnMark.hidden = column === null;
      cellMark.hidden = row === null || column === null;
      for (const node of [rowMark, columnMark, cellMark]) {
        node.style.setProperty("--row", row ?? 0);
        node.style.setProperty("--column", column ?? 0);
      }
      light(rowLabels, row);
      light(columnLabels, column);
    },
  };
}

function labels(pieces, name) {
  const nodes = pieces.map((piece) =>
    el("span", { class: isDim(piece) ? "dim" : "", title: piece }, el("bdi", {}, shown(piece))),
  );
  return el("div", { class: name, "aria-hidden": "true" }, nodes);
}

function light(container, index) {
  container.querySelector(".lit")?.classList.remove("lit");
  if (index !== null) container.children[index]?.classList.add("lit");
}

function cellUnder(event, field, nRows, nColumns) {
  const box = field.getBoundingClientRect();
  return [
    Math.floor(((event.clientY - box.top) / box.height) * nRows),
    Math.floor(((event.clientX - box.left) / box.width) * nColumns),
  ];
}

/** Give the cells the largest size that fits, now and whenever the box changes. */
function fit(box, grid, nColumns) {
  const watcher = new ResizeObserver(() => {
    const free = box.clientWidth - (grid.querySelector(".row-labels").offsetWidth + 4);
    const cell = clamp(Math.floor(free / nColumns), SMALLEST, LARGEST);
    grid.style.setProperty("--cell", `${cell}px`);
    grid.classList.toggle("fine", cell < 16);
  });
  watcher.observe(box);
}

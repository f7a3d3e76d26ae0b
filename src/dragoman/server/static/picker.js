// Choosing what to look at: the kind of attention, and small pictures of all its heads.

import { arrow, byId, clamp, el, pushButton, rove } from "./dom.js";
import { headName, placeOf, TITLES } from "./looks.js";
import { signed } from "./pieces.js";
import { attentionName, isOff, kindsOf, layersOf } from "./state.js";
import { paint, table } from "./weights.js";

/** The kinds of attention to choose from. */
export function kindSwitch(explanation, kind, store) {
  const kinds = kindsOf(explanation);
  const pick = (name) => {
    const layer = clamp(store.get().layer, 0, layersOf(explanation, name) - 1);
    store.set({ kind: name, layer, pointed: null });
  };
  const buttons = kinds.map((name) => {
    const isChosen = name === kind;
    const attributes = { role: "radio", id: `kind-${name}`, "aria-checked": String(isChosen) };
    const tabindex = isChosen ? "0" : "-1";
    return pushButton(TITLES[name], () => pick(name), { ...attributes, tabindex });
  });
  const label = "Kind of attention";
  const group = el("div", { class: "segments", role: "radiogroup", "aria-label": label }, buttons);
  rove(group, (key, from) => {
    const step = arrow(key);
    const next = step && kinds[buttons.indexOf(from) + step[0] + step[1]];
    if (next) pick(next);
    return next && byId(`kind-${next}`);
  });
  return group;
}

/** Small pictures of every head, a row for each layer: {element, select(state)}. */
export function picker(explanation, kind, store) {
  const layers = layersOf(explanation, kind);
  const heads = table(explanation, attentionName(kind, 0)).shape[0];
  const buttons = [];
  const cells = [el("span"), ...range(heads).map((head) => axis("head", head))];
  for (const layer of range(layers)) {
    const row = range(heads).map((head) => thumbnail(explanation, kind, layer, head, store));
    buttons.push(...row);
    cells.push(axis("layer", layer), ...row);
  }
  const style = { "--heads": heads };
  const attributes = { class: "picker", role: "radiogroup", "aria-label": "Layer and head", style };
  const grid = el("div", attributes, cells);
  rove(grid, (key, from) => {
    const step = arrow(key);
    if (!step) return null;
    const at = buttons.indexOf(from);
    const head = clamp((at % heads) + step[0], 0, heads - 1);
    const layer = clamp(Math.floor(at / heads) + step[1], 0, layers - 1);
    store.set({ layer, head });
    return buttons[layer * heads + head];
  });
  const element = el(
    "div",
    { class: "picker-box" },
    el("p", { class: "small" }, "Rows: layers. Columns: heads."),
    grid,
    el("p", { class: "small" }, el("span", { class: "dot" }), " used for word alignment"),
    weightiest(explanation, store),
  );
  const select = ({ layer, head, wide }) => {
    for (const [at, button] of buttons.entries()) {
      const isChosen = at === layer * heads + head;
      button.setAttribute("aria-checked", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      button.classList.toggle("beside", wide && Math.floor(at / heads) === layer);
    }
  };
  return { element, select };
}

const range = (n) => Array.from({ length: n }, (_, i) => i);

const axis = (what, index) =>
  el("span", { class: "axis", title: `${what} ${index + 1}` }, String(index + 1));

function thumbnail(explanation, kind, layer, head, store) {
  const name = attentionName(kind, layer);
  const canvas = el("canvas", { "aria-hidden": "true" });
  paint(canvas, table(explanation, name), head);
  const aligns = explanation.model.alignment_heads.some(([n, h]) => n === name && h === head);
  const off = isOff(explanation, name, head);
  const notes = [aligns ? ", used for word alignment" : "", off ? ", switched off" : ""];
  const label = `layer ${layer + 1}, head ${head + 1}${notes.join("")}`;
  const looks = `thumbnail${aligns ? " aligns" : ""}${off ? " off" : ""}`;
  const choose = () => store.set({ layer, head, wide: false });
  const attributes = { role: "radio", "aria-label": label, title: label, class: looks };
  return pushButton(canvas, choose, attributes);
}

/** The heads that this translation leaned on most, where the explanation knows. */
function weightiest(explanation, store) {
  if (!explanation.head_effects) return null;
  const worst = explanation.head_effects.toSorted((a, b) => a.log_prob - b.log_prob).slice(0, 4);
  const rows = worst.map(({ name, head, log_prob: change }) => {
    const choose = () => store.set({ ...placeOf(name), head, wide: false, pointed: null });
    const link = pushButton(headName(name, head), choose, { class: "link" });
    return el("li", {}, link, ` ${signed(change, true)}`);
  });
  const title = "What the translation leans on most: log P changes by this much without";
  return el("div", { class: "weightiest small" }, el("p", {}, title), el("ol", {}, rows));
}

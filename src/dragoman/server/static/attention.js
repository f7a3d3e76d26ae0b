// The attention view: kind, layer and head to choose from small pictures, one of them large.

import { announce, byId, el, keepFocus, pushButton } from "./dom.js";
import { createHeatmap } from "./heatmap.js";
import { HEADS_HINT, HINTS, lookName } from "./looks.js";
import { kindSwitch, picker } from "./picker.js";
import { axes } from "./pieces.js";
import { asTable, legend, reading } from "./reading.js";
import { attentionName, isOff } from "./state.js";
import { table } from "./weights.js";

/** Draw the attention view into its panel and keep it drawn. */
export function showAttention(store, actions) {
  const panel = byId("attention");
  const view = { maps: [] };
  store.on(["explanation", "kind", "theme"], ({ explanation }) => explanation && keepFocus(build));
  store.on(["layer", "head", "wide"], ({ explanation }, changed) => {
    const isBuilt = !changed.some((key) => ["explanation", "kind", "theme"].includes(key));
    if (explanation && isBuilt) keepFocus(choose);
  });
  store.on(["pointed"], () => store.get().explanation && point());

  function build() {
    performance.mark("attention");
    const { explanation, kind } = store.get();
    view.picker = picker(explanation, kind, store);
    view.large = el("div", { class: "large" });
    panel.replaceChildren(
      kindSwitch(explanation, kind, store),
      el("p", { class: "hint" }, `${HINTS[kind]} ${HEADS_HINT}`),
      el("div", { class: "attention" }, view.picker.element, view.large),
    );
    choose();
    performance.measure("attention drawn", "attention");
  }

  function choose() {
    const state = store.get();
    view.picker.select(state);
    view.maps = large(view.large, store, actions);
    point();
  }

  function point() {
    const { kind, pointed } = store.get();
    const side = kind === "encoder.self" ? "source" : "target";
    const row = pointed?.side === side ? pointed.index : null;
    let column = row === null ? null : (pointed.key ?? null);
    // A piece of the source pointed at in cross-attention is a column.
    if (kind === "decoder.cross" && pointed?.side === "source") column = pointed.index;
    for (const map of view.maps) map.mark(row, column);
    const readout = view.large.querySelector(".readout");
    announce(readout, panel, reading(store.get(), row, column));
  }
}

/** The chosen head, or all heads of its layer, with what belongs beside them. */
function large(box, store, actions) {
  const state = store.get();
  const { explanation, kind, layer, head, wide } = state;
  const name = attentionName(kind, layer);
  const found = table(explanation, name);
  const [rows, columns] = axes(explanation, kind);
  const onPoint = (row, column = null) => {
    const side = kind === "encoder.self" ? "source" : "target";
    store.set({ pointed: row === null ? null : { side, index: row, key: column } });
  };
  const map = (h) =>
    createHeatmap({
      rows, columns, table: found, head: h, onPoint,
      label: `${lookName({ kind, layer, head: h })}, ${rows.length} by ${columns.length} pieces`,
    });
  const heads = wide ? Array.from({ length: found.shape[0] }, (_, h) => h) : [head];
  const maps = heads.map(map);
  const figures = heads.map((h, i) => {
    const caption = `head ${h + 1}${isOff(explanation, name, h) ? " (off)" : ""}`;
    return el("figure", {}, el("figcaption", {}, caption), maps[i].element);
  });
  box.replaceChildren(
    header(state, name, store, actions),
    el("div", { class: wide ? "many" : "one" }, wide ? figures : maps[0].element),
    el("p", { class: "readout" }),
    legend(),
    asTable(state),
  );
  return maps;
}

function header({ explanation, layer, head, wide }, name, store, actions) {
  const off = isOff(explanation, name, head);
  const all = pushButton(
    wide ? "Show one head" : "All heads of this layer",
    () => store.set({ wide: !wide }),
    { id: "all-heads", "aria-pressed": String(wide) },
  );
  const toggle = pushButton(
    off ? `Switch head ${head + 1} on again` : `Switch head ${head + 1} off`,
    () => actions.toggleHead(name, head),
    { id: "head-off", "aria-pressed": String(off) },
  );
  const title = wide ? `Layer ${layer + 1}, all heads` : `Layer ${layer + 1}, head ${head + 1}`;
  return el(
    "div",
    { class: "large-head" },
    el("h2", {}, title),
    el("code", { title: "its name in Python" }, wide ? name : `${name} [${head}]`),
    el("span", { class: "buttons" }, all, wide ? null : toggle),
  );
}

// The two sentences, piece by piece, with what belongs together and what looks at what.

import { announce, byId, el, keepFocus, svg } from "./dom.js";
import { drawLinks } from "./links.js";
import { lookName } from "./looks.js";
import { css, inkOn } from "./palette.js";
import { quoted, spoken } from "./pieces.js";
import { sentence } from "./sentence.js";
import { attentionName } from "./state.js";
import { columnOf, rowOf, strongest, table } from "./weights.js";

const FAINT = 0.03; // attention below this is not drawn
const HINT =
  "Text enters the model in pieces of words (5.1). Lines join words that translate each other, " +
  "read off the cross-attention (3.2.3); the bar under a piece is how sure the model was of it.";
const INVITATION =
  "Point at a piece to see where it looks. Press a piece of the translation for the other choices.";

/** Draw the sentences and keep the links between them right. */
export function showSentences(store) {
  const stage = byId("stage");
  const view = {};
  const looking = ["pointed", "target", "kind", "layer", "head", "wide", "theme"];
  store.on(["explanation"], ({ explanation }) => explanation && keepFocus(build));
  store.on(looking, () => view.links && draw());
  new ResizeObserver(() => view.links && draw()).observe(stage);

  function build() {
    view.links = svg("svg", { class: "links", "aria-hidden": "true" });
    view.source = sentence("source", store);
    view.target = sentence("target", store);
    view.readout = el("p", { id: "stage-readout", class: "readout" });
    const rows = [view.source.element, view.target.element];
    stage.replaceChildren(
      el("div", { class: "sentences" }, view.links, rows),
      view.readout,
      el("p", { class: "hint" }, HINT),
    );
    draw();
  }

  function draw() {
    const state = store.get();
    const looks = looksOf(state);
    for (const side of ["source", "target"]) mark(view[side].buttons, side, state, looks);
    view.target.start.hidden = state.kind !== "decoder.self";
    drawLinks(view, state.explanation, looks);
    announce(view.readout, stage, reading(state, looks));
  }
}

/**
 * What has to do with the piece pointed at, or else with the one whose choices are open:
 * `at` is that piece, `aligned` the links of its word, `source` and `target` the weights that the
 * pieces of either side have in the attention that is looked at.
 */
function looksOf({ explanation, kind, layer, head, wide, pointed, target }) {
  const at = pointed ?? (target === null ? null : { side: "target", index: target });
  const looks = { at, aligned: alignedWith(explanation, at), source: null, target: null };
  const found = at && table(explanation, attentionName(kind, layer));
  if (!found) return looks;
  const h = wide ? null : head;
  const row = () => rowOf(found, h, at.index);
  if (at.side === "source") {
    if (kind === "encoder.self") looks.source = row();
    if (kind === "decoder.cross") looks.target = columnOf(found, h, at.index);
  } else {
    if (kind === "decoder.cross") looks.source = row();
    // The decoder reads the translation shifted by one: its first column is <s>.
    if (kind === "decoder.self") looks.target = row().slice(1);
  }
  for (const side of ["source", "target"]) {
    looks[side] = looks[side]?.map((share) => (share < FAINT ? 0 : share)) ?? null;
  }
  return looks;
}

/** The links of the word that a piece belongs to. */
function alignedWith(explanation, at) {
  const word = at && explanation[at.side].piece_words[at.index];
  if (word === null || word === undefined) return [];
  const end = at.side === "source" ? 0 : 1;
  return explanation.alignment.filter((pair) => pair[end] === word);
}

/** Colour the pieces of one side. */
function mark(buttons, side, { explanation, target }, { at, aligned, [side]: weights }) {
  const words = explanation[side].piece_words;
  const partners = new Set(aligned.map((pair) => pair[side === "source" ? 0 : 1]));
  for (const [index, button] of buttons.entries()) {
    const share = weights?.[index] ?? 0;
    button.classList.toggle("here", at?.side === side && at.index === index);
    button.classList.toggle("aligned", words[index] !== null && partners.has(words[index]));
    button.classList.toggle("looked-at", share > 0);
    button.style.setProperty("--look", share > 0 ? css(share) : "transparent");
    button.style.setProperty("--on-look", inkOn(share));
    if (side === "target") button.setAttribute("aria-expanded", String(target === index));
  }
}

/** The same as a sentence. */
function reading(state, { at, aligned, source, target }) {
  if (!at) return INVITATION;
  const { explanation } = state;
  const isSource = at.side === "source";
  const words = explanation[isSource ? "target" : "source"].words;
  const partners = aligned.map((pair) => `“${words[pair[isSource ? 1 : 0]]}”`);
  const parts = [`“${spoken(explanation[at.side].pieces[at.index])}”`];
  if (partners.length) parts.push(`goes with ${partners.join(" and ")}`);
  const seen = source ? explanation.source.pieces : explanation.target.pieces;
  const best = strongest(source ?? target ?? [], 3).map(([i, weight]) => quoted(seen[i], weight));
  const verb = isSource && target ? "is looked at by" : "looks at";
  if (best.length) parts.push(`${verb} ${best.join(", ")} (${lookName(state)})`);
  return `${parts.join(" · ")}.`;
}

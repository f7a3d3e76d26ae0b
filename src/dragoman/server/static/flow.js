// One piece on its way through the model: each station with its shape, and what it does there.

import { byId, el, keepFocus } from "./dom.js";
import { inputs, quoted, shown, spoken } from "./pieces.js";
import { rowOf, strongest, table } from "./weights.js";

const HINT =
  "A piece becomes a vector of d_model numbers, and keeps that shape through every layer (3.1, " +
  "Figure 1): attention carries news between positions, the feed-forward network (3.3) works on " +
  "each position alone, and both add to what was there before. The bars compare the mean length " +
  "of the vectors.";
const HANDED_OVER =
  "→ What the encoder has made goes, unchanged, to the cross-attention of every decoder layer.";

/** Draw the way through the model and keep it right. */
export function showFlow(store) {
  const panel = byId("flow");
  let followed = 0;
  store.on(["explanation", "target"], ({ explanation, target }) => {
    if (!explanation) return;
    followed = Math.min(target ?? followed, explanation.target.pieces.length - 1);
    build(explanation);
  });

  function build(explanation) {
    const choice = follow(explanation, followed, (index) => {
      followed = index;
      keepFocus(() => build(explanation));
    });
    const hint = el("p", { class: "hint" }, HINT);
    panel.replaceChildren(hint, choice, stacks(explanation, followed));
  }
}

function follow(explanation, followed, choose) {
  const options = explanation.target.pieces.map((piece, index) => {
    const attributes = { value: String(index), selected: index === followed };
    return el("option", attributes, `${index + 1}. ${shown(piece)}`);
  });
  const change = (event) => choose(Number(event.target.value));
  const select = el("select", { id: "follow", on: { change } }, options);
  return el("label", { class: "field" }, el("span", {}, "Follow the step that says"), select);
}

/** The encoder beside the decoder, as in Figure 1. */
function stacks(explanation, target) {
  const { flow } = explanation;
  const source = counterpart(explanation, target);
  const isDecoder = ({ name }) => name.startsWith("decoder") || name === "logits";
  const scale = Math.max(...flow.filter(isVector).map(({ norm }) => norm));
  const draw = (station) => stationLine(explanation, station, scale, { source, target });
  const reads = source === null ? "" : `, at “${spoken(explanation.source.pieces[source])}”`;
  const says = spoken(explanation.target.pieces[target]);
  const below = flow.filter((station) => !isDecoder(station)).map((s) => [s.name, draw(s)]);
  const above = flow.filter(isDecoder).map((s) => [s.name, draw(s)]);
  const encoder = stack("encoder", `The encoder reads${reads}`, below);
  const decoder = stack("decoder", `The decoder is about to say “${says}”`, above);
  encoder.append(el("p", { class: "handed" }, HANDED_OVER));
  return el("div", { class: "stacks" }, encoder, decoder);
}

/** The stations in order; those of a layer together, and later layers folded away. */
function stack(side, title, stations) {
  const list = el("div", { class: `stack ${side}` }, el("h2", {}, title));
  const layers = new Map();
  for (const [name, station] of stations) {
    const layer = name.match(/^\w+\.(\d+)\./)?.[1];
    if (layer !== undefined && !layers.has(layer)) {
      layers.set(layer, layerBox(Number(layer)));
      list.append(layers.get(layer));
    }
    (layers.get(layer) ?? list).append(station);
  }
  return list;
}

function layerBox(layer) {
  const note = layer === 0 ? "" : "the same again, with weights of its own";
  const summary = el("summary", {}, `Layer ${layer + 1}`, el("span", { class: "small" }, note));
  return el("details", { class: "layer", open: layer === 0 }, summary);
}

const isVector = ({ name }) => name !== "logits";

function stationLine(explanation, station, scale, at) {
  const { name, title, shape, letters, what, norm } = station;
  const size = shape.map((n) => n.toLocaleString("en")).join(" × ");
  const part = title.replace(/^.*: /, "").replace(/^./, (letter) => letter.toUpperCase());
  const figures = el("p", { class: "shape" }, el("code", {}, `${letters} = ${size}`));
  if (isVector(station)) {
    const style = { "--share": (norm / scale).toFixed(3) };
    const mean = `mean length of the vectors: ${norm.toFixed(1)}`;
    figures.append(
      el("span", { class: "meter", style, title: mean }),
      el("span", { class: "small", title: mean }, norm.toFixed(1)),
    );
  }
  const lines = [el("h3", {}, part), figures, el("p", {}, what), personal(explanation, name, at)];
  return el("div", { class: "station" }, lines);
}

/** What this station meant for the piece that is followed. */
function personal(explanation, name, { source, target }) {
  const line = (who, best) => el("p", { class: "personal" }, `${who} ${best.join(", ")}.`);
  if (name === "logits") {
    const likeliest = explanation.alternatives[target].slice(0, 4);
    const best = likeliest.map(({ piece, probability }) => quoted(piece, probability));
    return line("After the softmax the likeliest are", best);
  }
  const isEncoder = name.startsWith("encoder");
  const row = isEncoder ? source : target;
  const found = table(explanation, name);
  if (!found || row === null) return null;
  const isOwn = name.startsWith("decoder") && name.endsWith("self");
  const columns = isOwn ? inputs(explanation) : explanation.source.pieces;
  const best = strongest(rowOf(found, null, row), 3).map(([at, w]) => quoted(columns[at], w));
  const who = isEncoder ? `“${spoken(explanation.source.pieces[row])}” looks` : "It looks";
  return line(`${who} most at`, best);
}

/** The first source piece of the word that the followed piece goes with. */
function counterpart(explanation, target) {
  const word = explanation.target.piece_words[target];
  const pair = word === null ? null : explanation.alignment.find(([, tgt]) => tgt === word);
  const row = pair ? explanation.source.piece_words.indexOf(pair[0]) : -1;
  return row >= 0 ? row : null;
}

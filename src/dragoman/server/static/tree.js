// The beam as it grew: a column for each step, in it the best continuations by rank.

import { arrow, byId, clamp, el, svg } from "./dom.js";
import { isDim, shown, signed, spoken } from "./pieces.js";
import { player } from "./player.js";

const WIDTH = 132; // of a column
const NODE = 104; // of a node
const HEIGHT = 30; // of a row
const HINT = (size, penalty) =>
  `Beam search (6.1) keeps the ${size === 1 ? "best beginning" : `${size} best beginnings`} ` +
  "at each step. A column holds the continuations that were proposed, the likeliest on top; the " +
  "pale ones were pruned. At the end the score decides: log P over " +
  `((5\u00a0+\u00a0length)\u00a0/\u00a06)^α with α\u00a0=\u00a0${penalty}, so that long sentences are not put at a disadvantage.`;
const INVITATION = "Point at a node to read the beginning it stands for.";

/** Draw the search and keep it right. */
export function showTree(store) {
  let stop = () => {};
  store.on(["explanation"], ({ explanation }) => {
    stop();
    if (explanation) stop = build(byId("beam-view"), explanation);
  });
}

/** Draw one search; gives back how to stop what moves. */
function build(panel, explanation) {
  const { size, length_penalty: penalty, nodes } = explanation.beam;
  const plan = layout(nodes);
  const readout = el("p", { class: "readout", "aria-live": "polite" }, INVITATION);
  const lines = new Map(nodes.slice(1).map((node) => [node.id, edge(plan, node)]));
  const buttons = new Map(nodes.map((node) => [node.id, nodeButton(plan, node, tell)]));
  const tree = canvasOf(plan, lines.values(), buttons.values());
  const box = el("div", { class: "tree-box" }, tree);
  const controls = player(plan.last, show);
  controls.element.append(pruneSwitch(panel));
  panel.replaceChildren(
    el("p", { class: "hint" }, HINT(size, penalty)),
    controls.element,
    box,
    readout,
    ranking(explanation),
  );
  walk(tree, plan, buttons);
  show(plan.last);
  return controls.stop;

  function show(step) {
    tree.classList.toggle("done", step === plan.last);
    for (const node of nodes) {
      buttons.get(node.id).hidden = node.step > step;
      lines.get(node.id)?.classList.toggle("later", node.step > step);
    }
    // Keep the newest column in sight while the tree grows.
    if (step < plan.last) box.scrollLeft = (step + 1) * WIDTH - box.clientWidth;
  }

  /** Light the way to a node, and say what it stands for. */
  function tell(node) {
    const way = new Set();
    for (let n = node; n; n = plan.byId.get(n.parent)) way.add(n.id);
    for (const [id, line] of lines) line.classList.toggle("way", way.has(id));
    for (const [id, button] of buttons) button.classList.toggle("way", way.has(id));
    if (node) readout.textContent = describe(node);
  }
}

const byRank = (a, b) => b.log_prob - a.log_prob;

/** Where each node stands: its step is the column, its rank by log P the row. */
function layout(nodes) {
  const columns = Map.groupBy(nodes, (node) => node.step);
  const at = new Map();
  for (const column of columns.values()) {
    column.sort(byRank);
    for (const [row, node] of column.entries()) {
      at.set(node.id, { x: node.step * WIDTH, y: row * HEIGHT, row, column });
    }
  }
  return {
    at,
    byId: new Map(nodes.map((node) => [node.id, node])),
    children: Map.groupBy(nodes, (node) => node.parent),
    last: Math.max(...columns.keys()),
    rows: Math.max(...[...columns.values()].map((column) => column.length)),
  };
}

function canvasOf({ last, rows }, lines, buttons) {
  const [width, height] = [(last + 1) * WIDTH, rows * HEIGHT];
  const edges = svg("svg", { class: "edges", "aria-hidden": "true", width, height }, ...lines);
  const label = "Search tree. Move with the arrow keys.";
  const style = { width: `${width}px`, height: `${height}px` };
  return el("div", { class: "tree", role: "group", "aria-label": label, style }, edges, ...buttons);
}

const classOf = (node) => `${node.state}${node.best ? " best" : ""}`;

function edge({ at }, node) {
  const [from, to] = [at.get(node.parent), at.get(node.id)];
  const [x1, y1, x2, y2] = [from.x + NODE, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const d = `M${x1} ${y1}C${x1 + 16} ${y1} ${x2 - 16} ${y2} ${x2} ${y2}`;
  return svg("path", { d, class: `edge ${classOf(node)}` });
}

function nodeButton({ at }, node, tell) {
  const { x, y } = at.get(node.id);
  const [enter, leave] = [() => tell(node), () => tell(null)];
  return el(
    "button",
    {
      type: "button",
      class: `node ${classOf(node)}`,
      title: node.piece,
      "data-node": node.id,
      "aria-label": describe(node),
      tabindex: node.step === 0 ? "0" : "-1",
      style: { left: `${x}px`, top: `${y}px` },
      on: { pointerenter: enter, focus: enter, pointerleave: leave, blur: leave },
    },
    el("bdi", { class: isDim(node.piece) ? "dim" : "" }, shown(node.piece)),
    el("span", {}, node.step === 0 ? "" : signed(node.score)),
  );
}

function describe(node) {
  if (node.step === 0) return "The beginning: nothing is said yet.";
  const parts = [
    `“${node.text || spoken(node.piece)}”`,
    node.best ? `${node.state}, on the way to the translation` : node.state,
    `score ${signed(node.score)}`,
    `log P ${signed(node.log_prob)}`,
  ];
  return parts.join(" · ");
}

/** Arrow keys: left to where a node came from, right to its best child, up and down by rank. */
function walk(tree, plan, buttons) {
  tree.addEventListener("keydown", (event) => {
    const step = arrow(event.key);
    const node = plan.byId.get(Number(event.target.dataset?.node));
    if (!step || !node) return;
    event.preventDefault();
    const { row, column } = plan.at.get(node.id);
    let next = column[clamp(row + step[1], 0, column.length - 1)];
    if (step[0] < 0) next = plan.byId.get(node.parent);
    if (step[0] > 0) next = plan.children.get(node.id)?.toSorted(byRank)[0];
    if (!next || buttons.get(next.id).hidden) return;
    buttons.get(node.id).tabIndex = -1;
    buttons.get(next.id).tabIndex = 0;
    buttons.get(next.id).focus();
  });
}

function pruneSwitch(panel) {
  const box = el("input", { type: "checkbox" });
  box.addEventListener("change", () => panel.classList.toggle("hide-pruned", box.checked));
  panel.classList.remove("hide-pruned");
  return el("label", { class: "check" }, box, " hide what was pruned");
}

/** What the search gave back, best first. */
function ranking(explanation) {
  const rows = explanation.n_best.map(({ text, score, log_prob: logProb }) => {
    const figures = ` score ${signed(score)} · log P ${signed(logProb)}`;
    return el("li", {}, el("bdi", {}, text), el("span", { class: "small" }, figures));
  });
  return el("div", { class: "ranking" }, el("h2", {}, "What the search found"), el("ol", {}, rows));
}

// One sentence as words made of buttons, a button for each piece.

import { arrow, el, rove } from "./dom.js";
import { direction, isDim, percent, shown, spoken } from "./pieces.js";

/** The sentence of one side: {element, buttons, start}, where start is the <s> of the decoder. */
export function sentence(side, store) {
  const { explanation, languages } = store.get();
  const { text, pieces, piece_words: words } = explanation[side];
  const buttons = pieces.map((_, index) => pieceButton(explanation, side, index, store));
  const groups = [];
  for (const [index, button] of buttons.entries()) {
    const goesOn = index > 0 && words[index] !== null && words[index] === words[index - 1];
    if (!goesOn) groups.push(el("span", { class: "word" }));
    groups.at(-1).append(button);
  }
  const begin = el("span", { class: "piece dim" }, "<s>");
  const start = el("span", { class: "word", title: "where the decoder begins" }, begin);
  if (side === "target") groups.unshift(start);
  const label = side === "source" ? "Source" : "Translation";
  const dir = direction(text);
  const row = el(
    "div",
    { class: "row", role: "group", "aria-label": label, dir, lang: languages?.[side] },
    groups,
  );
  walk(row, buttons, dir === "rtl" ? -1 : 1);
  const name = el("span", { class: "side", "aria-hidden": "true" }, label);
  return { element: el("div", { class: `sentence ${side}` }, name, row), buttons, start };
}

/** Arrow keys go from piece to piece; Tab comes back to the last one. */
function walk(row, buttons, forward) {
  rove(row, (key, from) => {
    const step = arrow(key);
    const next = step && buttons[buttons.indexOf(from) + (step[0] * forward || step[1])];
    if (next) for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    return next;
  });
}

function pieceButton(explanation, side, index, store) {
  const piece = explanation[side].pieces[index];
  const point = () => store.set({ pointed: { side, index } });
  const leave = () => store.set({ pointed: null });
  const button = el(
    "button",
    {
      type: "button",
      id: `${side}-${index}`,
      class: isDim(piece) ? "piece dim" : "piece",
      title: piece,
      "aria-label": spoken(piece),
      tabindex: index === 0 ? "0" : "-1",
      on: { pointerenter: point, focus: point, pointerleave: leave, blur: leave },
    },
    el("bdi", {}, shown(piece)),
  );
  if (side === "target") openable(button, explanation, index, store);
  return button;
}

/** A piece of the translation shows how sure the model was of it, and opens its alternatives. */
function openable(button, explanation, index, store) {
  const { pieces, log_probs: logProbs, forced } = explanation.target;
  const sure = Math.exp(logProbs[index]);
  const isForced = index < forced;
  button.classList.toggle("forced", isForced);
  button.style.setProperty("--sure", sure.toFixed(3));
  const said = `${spoken(pieces[index])}, ${isForced ? "given" : percent(sure)}`;
  button.setAttribute("aria-label", said);
  button.setAttribute("aria-controls", "choices");
  button.addEventListener("click", () => {
    store.set({ target: store.get().target === index ? null : index });
  });
}

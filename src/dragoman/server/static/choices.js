// The pieces that the model weighed at one place, and the way on from each of them.

import { byId, el, pushButton } from "./dom.js";
import { isDim, percent, shown, spoken } from "./pieces.js";

const HINT =
  "At every step the decoder gives each piece of its vocabulary a probability: the softmax of " +
  "(3.4). These were the likeliest here. Choose another, and the translation goes on from it.";

/** Draw the alternatives of the chosen piece and keep them right. */
export function showChoices(store, actions) {
  const box = byId("choices");
  store.on(["explanation", "target"], ({ explanation, target }) => {
    const options = target === null ? null : explanation?.alternatives[target];
    box.hidden = !options;
    box.replaceChildren(...(options ? panel(explanation, target, actions, close) : []));
  });
  box.addEventListener("keydown", (event) => event.key === "Escape" && close());

  /** Close, and leave the reader at the piece that was open. */
  function close() {
    const { target } = store.get();
    store.set({ target: null });
    byId(`target-${target}`)?.focus();
  }
}

function panel(explanation, target, actions, close) {
  const rows = explanation.alternatives[target].map((option, k) => {
    const isTaken = option.piece === explanation.target.pieces[target];
    const ahead = explanation.continuations?.[target]?.[k];
    return el("li", {}, choice(option, isTaken, ahead, () => actions.continueFrom(target, k)));
  });
  const closing = { class: "quiet", "aria-label": "Close the choices" };
  return [
    el(
      "div",
      { class: "choices-head" },
      el("h2", {}, "What else could stand here?"),
      pushButton("×", close, closing),
    ),
    el("p", { class: "hint" }, HINT),
    el("ol", {}, rows),
  ];
}

function choice({ piece, probability }, isTaken, ahead, choose) {
  const note = isTaken ? "taken" : (ahead ?? "→");
  const attributes = {
    class: "choice",
    disabled: isTaken,
    "aria-label": `${spoken(piece)}, ${percent(probability)}${isTaken ? ", taken" : ", go on"}`,
    style: { "--share": probability.toFixed(4) },
  };
  const parts = [
    el("bdi", { class: isDim(piece) ? "name dim" : "name", title: piece }, shown(piece)),
    el("span", { class: "meter" }),
    el("span", { class: "number" }, percent(probability)),
    el("span", { class: note === "→" ? "ahead arrow" : "ahead", dir: "auto" }, note),
  ];
  return pushButton(parts, choose, attributes);
}

// The page: what is asked, what is shown, and the views that show it.

import { showSentences } from "./alignment.js";
import { showAttention } from "./attention.js";
import { showChoices } from "./choices.js";
import { showChanges } from "./compare.js";
import { arrow, byId, el, rove } from "./dom.js";
import { showFlow } from "./flow.js";
import { live } from "./live.js";
import { signed } from "./pieces.js";
import { createStore, firstLook, START } from "./state.js";
import { still } from "./still.js";
import { showTheme } from "./theme.js";
import { showTree } from "./tree.js";

const NOTES = {
  stopped_at_limit: "The translation had no more room and may lack its end.",
  repetition: "The translation went in circles and was ended.",
  split: "The sentence was longer than the model can take, and was translated in parts.",
};

const store = createStore(START);
const embedded = byId("explanation"); // only a file of its own has it
const actions = embedded ? still(store) : live(store);

showTheme(() => store.set({ theme: store.get().theme + 1 }));
showTabs();
showChanges(store, actions);
showSentences(store);
showChoices(store, actions);
showAttention(store, actions);
showTree(store);
showFlow(store);
store.on(["explanation", "draft"], showResult);

if (embedded) {
  const explanation = JSON.parse(embedded.textContent);
  byId("still").hidden = false;
  byId("asked").textContent = explanation.source.text;
  document.title = `${explanation.source.text} – Dragoman`;
  store.set({ ...firstLook(explanation), explanation, original: explanation });
} else {
  byId("ask").hidden = false;
  byId("welcome").hidden = false;
  byId("api-link").append(el("a", { href: "docs" }, "The API of this server"));
}

function showResult({ explanation, draft }) {
  byId("details").hidden = !explanation;
  if (!explanation) return;
  byId("result").hidden = false;
  const { target, score, log_prob: logProb, notes } = explanation;
  byId("translation").replaceChildren(target.text || "(nothing)");
  const figures = [`log P ${signed(logProb)}`, `score ${signed(score)}`];
  figures.push(`${target.pieces.length} pieces`);
  const lines = [figures.join(" · "), ...notes.map((note) => NOTES[note] ?? note)];
  if (draft && draft !== target.text) {
    lines.push(`The likeliest piece at each step made “${draft}”; beam search chose this one.`);
  }
  byId("figures").replaceChildren(...lines.map((line) => el("span", {}, line)));
  byId("about-model").textContent = about(explanation.model);
}

function about(model) {
  const layers = `${model.n_encoder_layers} + ${model.n_decoder_layers} layers`;
  return (
    `This one, ${model.name}, has ${model.params.toLocaleString("en")} parameters: ${layers}, ` +
    `${model.n_heads} heads, d_model ${model.d_model}.`
  );
}

function showTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const select = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
  };
  for (const tab of tabs) tab.addEventListener("click", () => select(tab));
  rove(document.querySelector("[role=tablist]"), (key, from) => {
    const step = arrow(key);
    const next = step && tabs[(tabs.indexOf(from) + step[0] + tabs.length) % tabs.length];
    if (next) select(next);
    return next;
  });
  select(tabs[0]);
}

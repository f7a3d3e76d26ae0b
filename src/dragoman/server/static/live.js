// The page before a server: the form, the stream of the translation, and asking again with changes.

import { explain, models, stream, useKey } from "./api.js";
import { byId, el, pushButton } from "./dom.js";
import { isOff, firstLook } from "./state.js";

const EXAMPLES = {
  de: [
    "Ich weiß, dass das Kind gestern den Brief geschrieben hat.",
    "Der alte Mann liest ein Buch, weil es regnet.",
  ],
  en: ["A dog runs across the grass.", "Two men are talking in front of a house."],
};

const UNKNOWN = "src"; // what the server calls a language that it cannot tell

/** Wire the form, and give what the views can ask for. */
export function live(store) {
  let asking = null; // the request under way
  let asked = null; // what the explanation on the page was asked with

  const settings = () => ({
    model: byId("model").value || null,
    beam: byId("beam").value ? Number(byId("beam").value) : null,
    length_penalty: byId("penalty").value ? Number(byId("penalty").value) : null,
  });

  /** Do one thing at a time; a newer wish ends the older one. */
  async function attempt(work) {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    say("");
    busy(true);
    try {
      await work(mine.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      complain(error);
    } finally {
      if (asking === mine) busy(false);
    }
  }

  function translate(text) {
    const body = { text, ...settings(), prefix_ids: null, heads_off: [] };
    return attempt(async (signal) => {
      store.set({ explanation: null, original: null, draft: null, target: null, pointed: null });
      const draft = await spell(body, signal);
      const explanation = await explain(body, signal);
      asked = body;
      const first = { ...firstLook(explanation), languages: languagesOf(body.model) };
      store.set({ ...first, explanation, original: explanation, draft: draft.text });
    });
  }

  function again(changes) {
    const body = { ...asked, ...changes };
    return attempt(async (signal) => {
      const explanation = await explain(body, signal);
      asked = body;
      store.set({ explanation, draft: null, target: null, pointed: null });
    });
  }

  wireForm(translate);
  return {
    toggleHead(name, head) {
      const { explanation } = store.get();
      const others = explanation.heads_off.filter(([n, h]) => n !== name || h !== head);
      again({ heads_off: isOff(explanation, name, head) ? others : [...others, [name, head]] });
    },
    continueFrom(target, k) {
      const { alternatives, prefix_ids: ids } = store.get().explanation;
      again({ prefix_ids: [...ids.slice(0, target), alternatives[target][k].id] });
    },
    release: () => again({ prefix_ids: null }),
  };
}

/** Show the translation as it is spoken. */
async function spell({ text, model }, signal) {
  const out = byId("translation");
  byId("welcome").hidden = true;
  byId("result").hidden = false;
  byId("figures").replaceChildren();
  out.replaceChildren();
  const done = await stream({ text, model }, (token) => {
    const before = out.textContent;
    const fresh = token.text.startsWith(before) ? token.text.slice(before.length) : null;
    if (fresh === null) out.replaceChildren(token.text);
    else out.append(el("span", { class: "fresh" }, fresh));
  }, signal);
  return done;
}

function wireForm(translate) {
  const text = byId("text");
  const submit = () => {
    if (text.value.trim()) translate(text.value.trim());
    else say("Type a sentence first.");
  };
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  byId("key").addEventListener("change", (event) => {
    useKey(event.target.value);
    fillModels();
  });
  byId("model").addEventListener("change", showExamples);
  fillModels();
}

let served = [];

async function fillModels() {
  try {
    served = await models();
  } catch (error) {
    complain(error);
    return;
  }
  byId("model").replaceChildren(...served.map((model) => {
    const known = languagesOf(model.name);
    const pair = known ? `${known.source} → ${known.target} · ` : "";
    return el("option", { value: model.name }, `${pair}${model.name} · ${millions(model.params)}`);
  }));
  showExamples();
}

function ask(text) {
  byId("text").value = text;
  byId("ask").requestSubmit();
}

function languagesOf(name) {
  const model = served.find((each) => each.name === name);
  return model && model.source !== UNKNOWN ? { source: model.source, target: model.target } : null;
}

const millions = (n) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)} M` : n.toLocaleString("en"));

function showExamples() {
  const model = served.find(({ name }) => name === byId("model").value);
  const texts = EXAMPLES[model?.source] ?? [];
  byId("examples").hidden = texts.length === 0;
  byId("examples").replaceChildren("Try ", ...texts.flatMap((text) => [
    pushButton(text, () => ask(text), { class: "link" }), " ",
  ]));
}

/** Say what went wrong; where a key is missing, ask for it. */
function complain(error) {
  say(error.message);
  if (error.status === 401 || error.status === 403) byId("key-field").hidden = false;
}

function say(message) {
  byId("message").textContent = message;
  byId("message").hidden = !message;
}

function busy(is) {
  document.body.classList.toggle("busy", is);
  byId("translation").setAttribute("aria-busy", String(is));
}

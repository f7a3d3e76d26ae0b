// What the page shows, in one place. Views listen to the keys they draw.

import { placeOf } from "./looks.js";

/** A store: `get()`, `set(patch)`, and `on(keys, draw)`, to draw when one of the keys changes. */
export function createStore(initial) {
  let value = initial;
  const listeners = [];
  return {
    get: () => value,
    set(patch) {
      const changed = Object.keys(patch).filter((key) => patch[key] !== value[key]);
      if (changed.length === 0) return;
      value = { ...value, ...patch };
      for (const { keys, draw } of listeners) {
        if (keys.some((key) => changed.includes(key))) draw(value, changed);
      }
    },
    on(keys, draw) {
      listeners.push({ keys, draw });
    },
  };
}

/** The state before anything was asked. */
export const START = {
  explanation: null, // what is on the page (see docs of /api/explain)
  original: null, // the same before anything was forced or switched off
  whatIf: null, // in a file without a server: the effect of one change, worked out beforehand
  languages: null, // {source, target}: codes, where they are known
  draft: null, // what the greedy stream said before the search had its word
  kind: "decoder.cross", // encoder.self, decoder.self or decoder.cross
  layer: 0,
  head: 0,
  wide: false, // all heads of the layer, not one
  target: null, // the piece of the translation whose alternatives are open
  pointed: null, // {side, index, key}: the piece pointed at; key: what it looks at, if one is meant
  theme: 0, // counts changes of colours
};

/** The place to look first: the head that aligns words best, if the model has one. */
export function firstLook(explanation) {
  const [name, head] = explanation.model.alignment_heads?.[0] ?? [];
  const kinds = kindsOf(explanation);
  if (name && explanation.attention[name]) {
    return { ...placeOf(name), head };
  }
  return { kind: kinds.at(-1), layer: 0, head: 0 };
}

export const KINDS = ["encoder.self", "decoder.self", "decoder.cross"];

/** The kinds of attention that this model has. */
export function kindsOf(explanation) {
  return KINDS.filter((kind) => layersOf(explanation, kind) > 0);
}

/** The number of layers with this kind of attention. */
export function layersOf(explanation, kind) {
  let n = 0;
  while (explanation.attention[attentionName(kind, n)]) n += 1;
  return n;
}

/** The model's own name of an attention, such as `decoder.2.cross`. */
export function attentionName(kind, layer) {
  const [stack, what] = kind.split(".");
  return `${stack}.${layer}.${what}`;
}

/** Whether a head was switched off in what is shown. */
export function isOff(explanation, name, head) {
  return explanation.heads_off.some(([n, h]) => n === name && h === head);
}

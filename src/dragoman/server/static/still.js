// The page as a file of its own: what would need a server was worked out when it was written.

import { headName } from "./looks.js";
import { shown } from "./pieces.js";

const UNKNOWN_EFFECT = ({ target }) => ({ text: target.text, log_prob: null });

/** What the views can ask for, answered from the file. */
export function still(store) {
  return {
    toggleHead(name, head) {
      const { explanation } = store.get();
      const effect = explanation.head_effects?.find((e) => e.name === name && e.head === head);
      const { text, log_prob: change } = effect ?? UNKNOWN_EFFECT(explanation);
      const title = effect ? `${headName(name, head)}: off` : "This file knows no effects of heads";
      store.set({ whatIf: { title, text, change } });
    },
    continueFrom(target, k) {
      const { explanation } = store.get();
      const option = explanation.alternatives[target][k];
      const text = explanation.continuations?.[target]?.[k] ?? `${option.text} …`;
      const title = `goes on from “${shown(option.piece)}”`;
      store.set({ whatIf: { title, text, change: null } });
    },
    forget() {
      store.set({ whatIf: null });
    },
  };
}

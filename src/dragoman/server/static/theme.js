// Light, dark, or as the system has it.

import { byId } from "./dom.js";

const CHOICES = ["", "light", "dark"];
const SIGNS = { "": "◐", light: "☀", dark: "☾" };
const NAMES = { "": "as the system has them", light: "light", dark: "dark" };

/** Let the button go round the choices; `changed` hears of every change of colours. */
export function showTheme(changed) {
  const button = byId("theme");
  const apply = (choice) => {
    if (choice) document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    button.textContent = SIGNS[choice];
    button.title = `Colours: ${NAMES[choice]}`;
    button.setAttribute("aria-label", button.title);
    changed();
  };
  let choice = remembered();
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    remember(choice);
    apply(choice);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  apply(choice);
}

// A page opened as a file may have no storage; then the choice lasts as long as the page.
function remembered() {
  try {
    return CHOICES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "";
  } catch {
    return "";
  }
}

function remember(choice) {
  try {
    localStorage.setItem("theme", choice);
  } catch {
    /* nothing to be done */
  }
}

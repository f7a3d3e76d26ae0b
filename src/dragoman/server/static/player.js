// A slider over steps, and a button that runs along it.

import { el, pushButton } from "./dom.js";

const PACE = 650; // milliseconds of a step

/** {element, stop}; `show(step)` is called for steps from 1 to `last`. */
export function player(last, show) {
  const range = { type: "range", min: "1", max: String(last), value: String(last) };
  const slider = el("input", { ...range, "aria-label": "Step of the search" });
  const count = el("output", { class: "small" });
  const button = pushButton("", () => (timer === null ? play() : stop()));
  let timer = null;

  function play() {
    go(Number(slider.value) >= last ? 1 : Number(slider.value) + 1);
    timer = setInterval(() => go(Number(slider.value) + 1), PACE);
    button.textContent = "❚❚ Pause";
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    button.textContent = "▶ Play";
  }

  function go(step) {
    slider.value = String(step);
    count.textContent = `step ${step} of ${last}`;
    show(step);
    if (step >= last) stop();
  }

  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  stop();
  count.textContent = `step ${last} of ${last}`;
  return { element: el("div", { class: "controls" }, button, slider, count), stop };
}

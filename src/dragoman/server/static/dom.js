// Making elements. Text only ever becomes text nodes, so no input can turn into markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; `on` holds listeners, `style` custom properties. */
export function el(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

/** The same for a shape of an SVG picture. */
export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "style") {
      // Through the object model: a style attribute would be refused by the page's policy.
      for (const [key, content] of Object.entries(value)) node.style.setProperty(key, content);
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A button that does one thing. */
export function pushButton(content, click, attributes = {}) {
  return el("button", { type: "button", on: { click }, ...attributes }, content);
}

export const byId = (id) => document.getElementById(id);

/** Arrow keys among several buttons of which one is in the tab order at a time. */
export function rove(container, move) {
  container.addEventListener("keydown", (event) => {
    const next = move(event.key, event.target);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}

/** The step that an arrow key asks for, as [right, down]; null for other keys. */
export function arrow(key) {
  const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  return steps[key] ?? null;
}

/** Draw anew without taking the focus from the reader: who has it is known by its id. */
export function keepFocus(draw) {
  const id = document.activeElement?.id;
  draw();
  if (id && document.activeElement?.id !== id) byId(id)?.focus({ preventScroll: true });
}

/** Write a line; it is spoken only where the reader is, as the same news stands in two places. */
export function announce(line, place, text) {
  line.setAttribute("aria-live", place.contains(document.activeElement) ? "polite" : "off");
  line.textContent = text;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

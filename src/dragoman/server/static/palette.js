// Colours of attention: lightness runs evenly from the paper's to its opposite, so that the order
// of the weights is plain to every eye, in print and without colour; hue only helps along.
// Computed in OKLCH (Ottosson, 2020), where equal steps look equal.

const LIGHT = { l: [0.985, 0.29], c: [0.012, 0.13, 0.12], h: [95, 278] };
const DARK = { l: [0.235, 0.93], c: [0.02, 0.13, 0.13], h: [278, 95] };

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** 256 colours as [r, g, b], for the bytes of the weights. */
export function ramp(dark = isDark()) {
  const key = dark ? "dark" : "light";
  ramps[key] ??= Array.from({ length: 256 }, (_, byte) => colour(dark ? DARK : LIGHT, share(byte)));
  return ramps[key];
}
const ramps = {};

/** The colour of a weight as CSS. */
export const css = (weight) => `rgb(${ramp()[Math.round(255 * weight)].join(" ")})`;

/** What can be read on that colour: near black or white. */
export function inkOn(weight) {
  const [r, g, b] = ramp()[Math.round(255 * weight)].map((x) => (x / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#14161b" : "#ffffff";
}

/** How far along the ramp a byte lies: by the square root, so that small weights are seen too. */
export const share = (byte) => Math.sqrt(byte / 255);

function colour({ l, c, h }, t) {
  const lightness = l[0] + (l[1] - l[0]) * t;
  // Little colour at the paper's end, most in the middle.
  const chroma = t < 0.5 ? mix(c[0], c[1], 2 * t) : mix(c[1], c[2], 2 * t - 1);
  const hue = (mix(h[0], h[1], t) * Math.PI) / 180;
  return toRgb(lightness, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

const mix = (a, b, t) => a + (b - a) * t;

/** OKLab to sRGB bytes. */
function toRgb(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((x) => {
    const shade = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, shade)));
  });
}

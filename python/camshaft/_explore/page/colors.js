// Colours of the page for what is drawn on canvases, by theme.
import { byId } from "./format.js";

export const KINDS = {
  conv: "Convolution",
  matmul: "Matrix product",
  attention: "Attention",
  pointwise: "Elementwise",
  norm: "Norm, softmax, reduction",
  pool: "Pooling, resize",
  move: "Data movement",
  other: "Other",
};
const PRECISION_COLORS = { f32: "conv", f16: "pointwise", bf16: "pointwise", int8: "norm", int4: "pool", f8: "attention" };

let current = null;

export function colors() {
  if (current) return current;
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  current = { kind: {} };
  for (const kind of Object.keys(KINDS)) current.kind[kind] = of(kind);
  for (const name of ["bg", "surface", "raised", "ink", "muted", "line", "edge", "accent", "hot", "cold", "good", "bad"])
    current[name] = of(name);
  return current;
}

export const precisionColor = (precision) => colors().kind[PRECISION_COLORS[precision] ?? "move"];

// From cold to hot; shares of a whole are seen by their square root.
export function heatColor(share) {
  const { cold, hot } = colors();
  return mixColors(cold, hot, Math.min(1, Math.sqrt(Math.max(share, 0))));
}

export function mixColors(a, b, part) {
  const [x, y] = [a, b].map((color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)));
  return `rgb(${x.map((value, i) => Math.round(value + (y[i] - value) * part)).join(",")})`;
}

// Light or dark as the system says, until the switch is used.
const THEMES = ["auto", "light", "dark"];
let theme = "auto";

export function setTheme(wanted, redraw) {
  theme = wanted;
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme;
  current = null;
  const button = byId("theme");
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  button.title = button.ariaLabel = `Colours: ${theme === "auto" ? "as the system" : theme} (t)`;
  redraw();
}

export const nextTheme = (redraw) => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % 3], redraw);

export function watchSystemTheme(redraw) {
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", () => {
      current = null;
      redraw();
    });
}

// Finding layers by their words: title, name, kernel, precision and ONNX nodes.
import { byId, cutText, el, plural, timeText } from "./format.js";
import { redrawGraph } from "./graph.js";
import { dot } from "./panel.js";
import { matches } from "./table.js";
import { layers, on, select, state } from "./state.js";

const MOST = 60;
let results = [], chosen = 0;

function look() {
  const text = byId("search").value.trim();
  results = text ? layers().filter((layer) => matches(layer, text)) : [];
  chosen = 0;
  state.found = results.length < 3000 ? results.map((layer) => layer.index) : [];
  draw(text);
  redrawGraph();
}

function draw(text) {
  const list = byId("results");
  list.hidden = !text;
  byId("search").setAttribute("aria-expanded", String(Boolean(text)));
  if (!text) return;
  list.replaceChildren(el("li", { class: "quiet", role: "presentation" }, results.length ? plural(results.length, "layer") :
    "no layer has these words"), ...results.slice(0, MOST).map((layer, i) => el("li", { role: "option",
    id: `result${i}`, "aria-selected": String(i === chosen), onpointerdown: (event) => {
      event.preventDefault();
      take(i);
    } }, dot(layer.kind), el("span", { class: "grow" }, layer.title, el("small", {}, cutText(layer.name, 46))),
  el("span", { class: "number quiet" }, timeText(layer.ms)))));
  byId("search").setAttribute("aria-activedescendant", results.length ? `result${chosen}` : "");
}

function take(i) {
  if (!results[i]) return;
  select(results[i].index, "search");
  byId("results").hidden = true;
  byId("search").blur();
}

function move(step) {
  chosen = Math.max(0, Math.min(Math.min(results.length, MOST) - 1, chosen + step));
  draw(byId("search").value.trim());
  byId(`result${chosen}`)?.scrollIntoView({ block: "nearest" });
}

export function endSearch() {
  byId("search").value = "";
  byId("search").blur();
  look();
}

export function startSearch() {
  const field = byId("search");
  field.addEventListener("input", look);
  field.addEventListener("focus", () => field.value && look());
  field.addEventListener("blur", () => (byId("results").hidden = true));
  field.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) move(steps[event.key]);
    else if (event.key === "Enter") take(chosen);
    else if (event.key === "Escape") endSearch();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  on("engine", endSearch);
}

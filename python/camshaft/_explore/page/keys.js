// The keyboard.
import { byId } from "./format.js";
import { nextTheme } from "./colors.js";
import { fitGraph, graphView } from "./graph.js";
import { neighbourInTable } from "./table.js";
import { data, layers, select, selectedLayer, showEngine, state } from "./state.js";

// The next layer: in the table as it is sorted, elsewhere as they run.
function step(by) {
  if (state.tab === "layers") return select(neighbourInTable(by), "keys");
  const next = state.selected < 0 ? (by > 0 ? 0 : layers().length - 1) : state.selected + by;
  select(Math.max(0, Math.min(layers().length - 1, next)), "keys");
}

// Along the data: what it reads first, or who reads it first.
function follow(forward) {
  const layer = selectedLayer();
  if (!layer) return step(forward ? 1 : -1);
  const next = forward ? layer.readers[0] : layer.inputs.flatMap((input) => input.from)[0];
  if (next !== undefined) select(next, "keys");
}

export function showHelp(open) {
  const help = byId("help");
  if (open && !help.open) help.showModal();
  else if (!open && help.open) help.close();
}

function tabBy(number) {
  const tabs = [...document.querySelectorAll("[role=tab]:not([hidden])")];
  tabs[number]?.click();
}

const ACTIONS = {
  "/": () => byId("search").focus(),
  "?": () => showHelp(true),
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowRight: () => follow(true),
  ArrowLeft: () => follow(false),
  Home: () => select(0, "keys"),
  End: () => select(layers().length - 1, "keys"),
  Escape: () => select(-1, "keys"),
  f: () => state.tab === "graph" && fitGraph(),
  "+": () => state.tab === "graph" && graphView.viewport.zoom(1.3),
  "=": () => state.tab === "graph" && graphView.viewport.zoom(1.3),
  "-": () => state.tab === "graph" && graphView.viewport.zoom(1 / 1.3),
  c: () => byId("columns").click(),
  a: () => data.engines.length > 1 && showEngine(0),
  b: () => data.engines.length > 1 && showEngine(1),
};

export function startKeys(redraw) {
  ACTIONS.t = () => nextTheme(redraw);
  for (let i = 0; i < 5; ++i) ACTIONS[String(i + 1)] = () => tabBy(i);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (byId("help").open) {
      if (event.key === "?" || event.key === "Escape") showHelp(false);
      return;
    }
    if (event.target.matches("[role=tab]") && event.key.startsWith("Arrow")) return;
    const action = ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  byId("helpButton").addEventListener("click", () => showHelp(true));
  byId("helpClose").addEventListener("click", () => showHelp(false));
  byId("help").addEventListener("click", (event) => event.target === byId("help") && showHelp(false));
}


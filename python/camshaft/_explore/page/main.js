// The page: tabs, the panel beside them, and what happens when something changes.
import { byId, bytesText, el, plural, timeText } from "./format.js";
import { KINDS, nextTheme, precisionColor, setTheme, watchSystemTheme } from "./colors.js";
import { fitGraph, graphView, redrawGraph, showGraph, startGraph } from "./graph.js";
import { forgetMinimap, startMinimap } from "./minimap.js";
import { announce, dot, layerPanel } from "./panel.js";
import { notesOf, overviewPanel, timesText } from "./overview.js";
import { drawTable, filterTable, startTable } from "./table.js";
import { drawMemory, startMemory } from "./memory.js";
import { drawRoofline, startRoofline } from "./roofline.js";
import { comparedGroup, drawCompare, forgetCompared, groupPanel, startCompare } from "./compare.js";
import { startSearch } from "./search.js";
import { startKeys } from "./keys.js";
import { data, emit, engine, layers, on, select, selectedLayer, showEngine, showTab, state, totals } from "./state.js";

function drawAll() {
  forgetMinimap();
  drawLegend();
  drawPanel();
  redrawGraph();
  drawTable();
  drawMemory();
  drawRoofline();
  drawCompare();
}

function drawPanel() {
  const panel = byId("panel"), layer = selectedLayer();
  const group = state.tab === "compare" ? comparedGroup() : null;
  const content = group ? groupPanel(group) : layer && state.tab !== "compare" ? layerPanel(layer) :
    overviewPanel((wanted) => {
      filterTable(wanted);
      showTab("layers");
    });
  panel.replaceChildren(...content.flat().filter(Boolean));
  if (group || (layer && state.tab !== "compare"))
    panel.prepend(el("button", { class: "close", title: "back to the whole engine (Esc)", "aria-label": "close",
      onclick: closePanel }, "×"));
  panel.scrollTop = 0;
}

function closePanel() {
  forgetCompared();
  select(-1, "panel");
  drawCompare();
}

function drawHeader() {
  const each = engine();
  byId("summary").replaceChildren(...[plural(layers().length, "layer"), each.totalMs ?
    `${timeText(each.totalMs)} ${each.times === "measured" ? "measured" : "by the builder"}` : "not timed",
  `${bytesText(each.weightsBytes)} weights`, `${bytesText(each.arenaBytes)} activations`, each.device]
    .map((text) => el("span", {}, text)));
  byId("summary").title = timesText(each);
  byId("engines").replaceChildren(...data.engines.map((one, i) => data.engines.length > 1
    ? el("button", { "aria-pressed": String(i === state.engine), onclick: () => showEngine(i), title: one.builtFor },
      el("b", {}, "AB"[i]), one.title) : el("strong", { title: one.builtFor }, one.title)));
  byId("memoryNote").replaceChildren(...(notesOf(each).length ? notesOf(each) :
    [el("p", { class: "note" }, "This engine keeps nothing in its arena.")]));
}

function drawLegend() {
  const list = byId("legend");
  if (state.color === "time")
    return list.replaceChildren(el("span", { class: "heat" }), `0 to ${timeText(engine().slowest)}`);
  const isKind = state.color === "kind";
  list.replaceChildren(...totals(layers(), (layer) => (isKind ? layer.kind : layer.precision)).map(({ key }) =>
    el("span", {}, isKind ? dot(key) : el("span", { class: "dot", style: { "--color": precisionColor(key) } }),
      isKind ? KINDS[key] : key || "none")));
}

function drawTabs() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const is = tab.dataset.tab === state.tab;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    byId(`view-${tab.dataset.tab}`).hidden = !is;
  }
}

function startTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.find((tab) => tab.dataset.tab === "compare").hidden = data.engines.length < 2;
  for (const tab of tabs) {
    tab.addEventListener("click", () => showTab(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const seen = tabs.filter((each) => !each.hidden);
      if (by) seen[(seen.indexOf(tab) + by + seen.length) % seen.length].focus();
    });
  }
  on("tab", () => {
    drawTabs();
    showGraph(false);
    drawAll();
    if (state.selected >= 0) emit("select", "tab");
  });
}

function startControls() {
  for (const button of document.querySelectorAll("[data-color]"))
    button.addEventListener("click", () => {
      state.color = button.dataset.color;
      for (const each of document.querySelectorAll("[data-color]"))
        each.setAttribute("aria-pressed", String(each === button));
      drawAll();
    });
  byId("fit").addEventListener("click", () => fitGraph());
  byId("zoomIn").addEventListener("click", () => graphView.viewport.zoom(1.4));
  byId("zoomOut").addEventListener("click", () => graphView.viewport.zoom(1 / 1.4));
  byId("columns").addEventListener("click", () => {
    state.inColumns = !state.inColumns;
    byId("columns").setAttribute("aria-pressed", String(state.inColumns));
    forgetMinimap();
    showGraph(true);
  });
  byId("theme").addEventListener("click", () => nextTheme(drawAll));
}

function start() {
  startTabs();
  startControls();
  startMinimap();
  startGraph();
  startTable();
  startMemory();
  startRoofline();
  startCompare(drawPanel);
  startSearch();
  startKeys(drawAll);
  on("engine", () => {
    drawHeader();
    drawLegend();
    drawPanel();
  });
  on("select", () => {
    drawPanel();
    announce();
  });
  drawHeader();
  drawTabs();
  setTheme("auto", drawAll);
  showGraph(true);
  watchSystemTheme(drawAll);
  let waiting = 0;
  new ResizeObserver(() => {
    if (matchMedia("print").matches) return;  // the sizes of paper, and only for a moment
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      if (!graphView.viewport.isMoved) showGraph(true);
      drawAll();
    });
  }).observe(byId("views"));
  document.documentElement.dataset.ready = "";
}

window.camshaftExplore = { graphView, state };  // for whoever measures or drives the page
start();

// The engine as a whole: beside the views while no layer is looked at.
import { bytesText, cutText, dimsText, el, plural, shareText, timeText } from "./format.js";
import { KINDS, colors, precisionColor } from "./colors.js";
import { bar, dot, facts, section } from "./panel.js";
import { engine, layers, select, totals } from "./state.js";

export const notesOf = (each) => each.notes.map((note) => el("p", { class: "note" }, note));

export function timesText(each) {
  if (each.times === "measured") return `measured here, median of ${plural(each.runs, "run")}`;
  return each.times === "builder" ? "as the builder timed the kernels" : "not timed";
}

function totalsTable(title, sums, colorOf, labelOf, filter) {
  const most = Math.max(...sums.map((sum) => sum.ms)) || 0, all = engine().totalMs;
  const mostLayers = Math.max(...sums.map((sum) => sum.count));
  return section(title, el("table", { class: "totals" }, sums.map((sum) => el("tr", {
    tabindex: 0, onclick: () => filter(sum.key), onkeydown: (event) => event.key === "Enter" && filter(sum.key),
    title: `show the ${plural(sum.count, "layer")} in the table` },
  el("td", {}, labelOf(sum.key), bar(most ? sum.ms / most : sum.count / mostLayers, colorOf(sum.key))),
  el("td", { class: "number" }, most ? timeText(sum.ms) : ""),
  el("td", { class: "number quiet" }, all ? shareText(sum.ms / all) : ""),
  el("td", { class: "number quiet" }, sum.count)))));
}

function slowestSection() {
  const slowest = engine().bySpeed.slice(0, 8);
  if (!slowest.length) return null;
  return section("Slowest layers", el("ol", { class: "slowest" }, slowest.map((layer) => el("li", {},
    el("button", { class: "row", onclick: () => select(layer.index, "panel") }, dot(layer.kind),
      el("span", { class: "grow" }, layer.title, el("small", {}, cutText(layer.name, 40))),
      el("span", { class: "number" }, timeText(layer.ms), el("small", {}, shareText(layer.share))))))));
}

export function overviewPanel(filterTable) {
  const each = engine();
  const peak = Math.max(0, ...each.memory.live);
  const tensors = (isInput) => each.tensors.filter((tensor) => tensor.isInput === isInput).map((tensor) =>
    el("div", {}, el("code", {}, cutText(tensor.name, 28)), ` ${dimsText(tensor.runDims)} ${tensor.type.toLowerCase()}`));
  const fusedCount = layers().filter((layer) => layer.fused || layer.origins.length > 1).length;
  return [el("header", {}, el("h2", {}, each.title), ...notesOf(each)),
    each.totalMs ? el("p", { class: "figure" }, timeText(each.totalMs), el("small", {}, timesText(each))) : null,
    section("Engine", facts(["layers", `${layers().length}${fusedCount ? `, ${fusedCount} of them fused` : ""}`],
      ["runs on", each.device], ["built for", each.builtFor.replaceAll("+", "+\u200b")], ["weights", bytesText(each.weightsBytes)],
      ["activations", peak ? `${bytesText(each.arenaBytes)}, at most ${bytesText(peak)} in use` : bytesText(each.arenaBytes)],
      each.profiles > 1 && ["profile", `${each.profile} of ${each.profiles}`],
      each.tensors.length > 0 && ["inputs", ...tensors(true)], each.tensors.length > 0 && ["outputs", ...tensors(false)])),
    each.detailed ? totalsTable("By kind of layer", totals(layers(), (layer) => layer.kind),
      (kind) => colors().kind[kind], (kind) => KINDS[kind], (kind) => filterTable({ kind })) : null,
    each.detailed ? totalsTable("By precision", totals(layers(), (layer) => layer.precision), precisionColor,
      (precision) => precision || "none", (precision) => filterTable({ precision })) : null,
    slowestSection()];
}

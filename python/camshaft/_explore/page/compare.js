// Two engines side by side.
import { byId, bytesText, cutText, el, plural, timeText } from "./format.js";
import { CHOICES, alignLayers } from "./align.js";
import { KINDS } from "./colors.js";
import { dot, facts, section } from "./panel.js";
import { RowTable } from "./table.js";
import { data, showEngine, showTab, state, totals } from "./state.js";

let groups = [], choice = "all", compared = null, rowTable = null, panelChanged = () => {};

export const comparedGroup = () => compared;
export const forgetCompared = () => (compared = null);

const ratio = (a, b) => (a && b ? (b <= a ? `${(a / b).toFixed(2)}× less` : `${(b / a).toFixed(2)}× more`) : "");

// The difference as a bar to the left, faster, or to the right.
function deltaBar(group, most) {
  const part = (Math.abs(group.delta) / (most || 1)) * 50;
  const color = group.delta <= 0 ? "var(--good)" : "var(--bad)";
  return el("span", { class: "delta", "aria-hidden": "true" }, el("i", { style: {
    width: `${part}%`, left: group.delta <= 0 ? `${50 - part}%` : "50%", background: color } }));
}

const signed = (ms) => (ms > 0 ? `+${timeText(ms)}` : ms < 0 ? `−${timeText(-ms)}` : "0");

function sideCell(group, side) {
  const list = group.layers[side];
  if (!list.length) return el("span", { class: "quiet" }, "–");
  const kernel = [...new Set(list.map((layer) => layer.shortKernel))].filter(Boolean).join(", ");
  return el("span", { title: kernel }, list.length > 1 ? el("small", { class: "many" }, `${list.length} layers `) : "",
    el("code", {}, kernel));
}

function columns() {
  const most = Math.max(...groups.map((group) => Math.abs(group.delta)));
  const side = (name, i) => [
    { label: `${name} time`, width: "84px", isNumber: true, value: (group) => group.ms[i],
      cell: (group) => (group.layers[i].length ? timeText(group.ms[i]) : "–") },
    { label: `${name} in`, width: "60px", value: (group) => group.precisions[i], cell: (group) => group.precisions[i] },
    { label: `${name} kernel`, width: "172px", value: (group) => group.kernels[i], cell: (group) => sideCell(group, i) }];
  return [{ label: "Layer", width: "190px", value: (group) => group.main.title,
    cell: (group) => [dot(group.main.kind), el("b", { title: group.main.title }, group.main.title)] },
  { label: "Difference", width: "112px", isNumber: true, value: (group) => group.delta,
    cell: (group) => [signed(group.delta), deltaBar(group, most)] },
  ...side("A", 0), ...side("B", 1),
  { label: "ONNX nodes", value: (group) => group.nodes[0] ?? "", cell: (group) => el("span", {
    class: "quiet", title: group.nodes.join("\n") }, group.nodes.length ? `${cutText(group.nodes[0], 40)}${
    group.nodes.length > 1 ? ` +${group.nodes.length - 1}` : ""}` : "none: put in by the optimiser") }];
}

function summary() {
  const [a, b] = data.engines;
  const card = (name, show, x, y) => el("div", { class: "card" }, el("h3", {}, name),
    el("p", {}, el("span", { class: "a" }, show(x)), el("span", { class: "arrow", "aria-hidden": "true" }, "→"),
      el("span", { class: "b" }, show(y))),
    el("small", { class: y < x ? "good" : y > x ? "bad" : "" }, x === y ? "the same" : ratio(x, y)));
  return [card("Time", timeText, a.totalMs, b.totalMs), card("Weights", bytesText, a.weightsBytes, b.weightsBytes),
    card("Activations", bytesText, a.arenaBytes, b.arenaBytes),
    card("Layers", (count) => count.toLocaleString("en"), a.layers.length, b.layers.length)];
}

// Time by kind of layer, A above B.
function kindBars() {
  const sums = data.engines.map((each) => new Map(totals(each.layers, (layer) => layer.kind).map((sum) => [sum.key, sum])));
  const kinds = Object.keys(KINDS).filter((kind) => sums.some((map) => map.has(kind)));
  const most = Math.max(...kinds.flatMap((kind) => sums.map((map) => map.get(kind)?.ms ?? 0))) || 1;
  const one = (kind, side) => {
    const sum = sums[side].get(kind);
    return el("div", { class: "pair" }, el("b", {}, "AB"[side]),
      el("i", { style: { width: `calc((100% - 140px) * ${(sum?.ms ?? 0) / most})`, background: `var(--${kind})`, opacity: side ? 1 : 0.6 } }),
      el("small", {}, sum ? `${timeText(sum.ms)} in ${plural(sum.count, "layer")}` : "none"));
  };
  return kinds.map((kind) => el("div", { class: "kind" }, el("span", {}, KINDS[kind]), el("div", {}, one(kind, 0), one(kind, 1))));
}

function drawChoices() {
  byId("compareChoices").replaceChildren(...Object.entries(CHOICES).map(([key, [label, test]]) => el("button", {
    "aria-pressed": String(choice === key), onclick: () => {
      choice = key;
      drawChoices();
      rowTable.setRows(groups.filter(CHOICES[choice][1]));
    } }, label, el("small", {}, ` ${groups.filter(test).length}`))));
}

export function drawCompare() {
  if (state.tab !== "compare") return;
  rowTable.setRows(groups.filter(CHOICES[choice][1]));
}

function sideSection(group, side) {
  const title = `${"AB"[side]}: ${data.engines[side].title}`;
  if (!group.layers[side].length) return section(title, el("p", { class: "quiet" }, "No layer does this here."));
  return section(title, ...group.layers[side].map((layer) => el("div", { class: "side" },
    el("button", { class: "link", onclick: () => {
      showTab("graph");
      showEngine(side, layer.index);
    } }, layer.title), el("p", { class: "words" }, layer.words), facts(["kernel", el("code", {}, layer.kernel)],
      ["precision", layer.precision], ["time", timeText(layer.ms)], ["bytes moved", bytesText(layer.bytes)],
      ["weights", layer.weights ? bytesText(layer.weights) : ""]))));
}

export function groupPanel(group) {
  return [el("header", {}, el("h2", {}, dot(group.main.kind), group.main.title),
    el("p", { class: "figure" }, signed(group.delta), el("small", {}, `${timeText(group.ms[0])} → ${timeText(group.ms[1])}`))),
  sideSection(group, 0), sideSection(group, 1),
  section(plural(group.nodes.length, "ONNX node"), el("div", { class: "chips" }, group.nodes.map((name) =>
    el("code", { class: "chip" }, name))))];
}

export function startCompare(changed) {
  if (data.engines.length < 2) return;
  panelChanged = changed;
  groups = alignLayers(data.engines).sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta));
  byId("compareTitle").replaceChildren(el("span", { class: "a" }, "A ", data.engines[0].title), " beside ",
    el("span", { class: "b" }, "B ", data.engines[1].title));
  byId("compareCards").replaceChildren(...summary());
  byId("compareKinds").replaceChildren(...kindBars());
  rowTable = new RowTable(byId("compareRows"), columns(), { label: "Layers of both engines",
    rowClass: (group) => (group === compared ? "selected" : ""),
    clicked: (group) => {
      compared = group;
      rowTable.draw();
      panelChanged();
    } });
  const isAligned = groups.some((group) => group.layers[0].length && group.layers[1].length);
  byId("compareNote").textContent = isAligned ? "" :
    "The engines share no ONNX node by name, so none of their layers stand side by side.";
  drawChoices();
}

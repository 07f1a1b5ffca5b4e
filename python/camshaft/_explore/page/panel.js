// All there is to know of the layer that is looked at.
import { byId, bytesText, countText, cutText, dimsText, el, plural, shareText, timeText } from "./format.js";
import { KINDS } from "./colors.js";
import { engine, layers, rooflineOf, select, selectedLayer } from "./state.js";

export const section = (title, ...content) => el("section", {}, el("h3", {}, title), ...content);
export const dot = (kind) => el("span", { class: "dot", style: { "--color": `var(--${kind})` } });

export function bar(share, color) {
  return el("span", { class: "bar", "aria-hidden": "true" },
    el("i", { style: { width: `${Math.max(0, Math.min(1, share)) * 100}%`, background: color } }));
}

export function facts(...rows) {
  return el("dl", { class: "facts" }, rows.filter((row) => row && row[1] !== undefined && row[1] !== "").map(
    ([name, ...values]) => [el("dt", {}, name), el("dd", {}, ...values)]));
}

// A layer by its name, to go to.
export function layerLink(index, text) {
  const layer = layers()[index];
  return el("button", { class: "link", title: layer.name, onclick: () => select(index, "panel") },
    text ?? cutText(layer.name, 44));
}

function timeSection(layer) {
  if (layer.ms === undefined) return section("Time", el("p", { class: "quiet" }, "Nobody has timed this layer."));
  const place = layer.place ? `, ${layer.place === 1 ? "the slowest" : `number ${layer.place}`} of ${engine().bySpeed.length}` : "";
  const builder = engine().times === "measured" && layer.builderMs !== undefined
    ? el("p", { class: "quiet" }, `${timeText(layer.builderMs)} when the builder chose the kernel.`) : null;
  return el("section", { class: "time" }, el("p", { class: "figure" }, timeText(layer.ms),
    el("small", {}, `${shareText(layer.share)} of all${place}`)),
    bar(layer.ms / (engine().slowest || 1), `var(--${layer.kind})`), builder);
}

function originSection(layer) {
  if (!layer.origins.length)
    return section("From the model", el("p", { class: "quiet" },
      "No node of the model: the optimiser put it in, to change a layout, a type or a place."));
  const chips = layer.origins.map((name) => el("code", { class: "chip" }, name));
  return section(plural(layer.origins.length, "ONNX node"), el("div", { class: "chips" }, chips));
}

function alternativesOf(layer) {
  const all = engine().alternatives[layer.alternatives] ?? [];
  const timed = all.filter((each) => each.ms !== undefined).sort((a, b) => a.ms - b.ms);
  const refused = all.filter((each) => each.ms === undefined);
  const chosen = layer.builderMs ?? layer.ms;
  const slowest = Math.max(chosen ?? 0, ...timed.map((each) => each.ms));
  const row = (kernel, ms, isChosen) => el("tr", { class: isChosen ? "chosen" : "" },
    el("td", {}, el("code", {}, kernel), bar(ms / slowest, isChosen ? "var(--accent)" : "var(--edge)")),
    el("td", { class: "number" }, timeText(ms)),
    el("td", { class: "number quiet" }, isChosen ? "chosen" : chosen ? `×${(ms / chosen).toFixed(2)}` : ""));
  const table = timed.length && chosen !== undefined ? el("table", { class: "rivals" },
    row(layer.kernel, chosen, true), timed.map((each) => row(each.kernel, each.ms, false))) : null;
  const list = refused.length ? el("details", { open: refused.length <= 4 },
    el("summary", {}, `${plural(refused.length, "kernel")} that ${refused.length === 1 ? "was" : "were"} not timed`),
    el("dl", { class: "refusals" }, refused.map((each) => [el("dt", {}, el("code", {}, each.kernel)),
      el("dd", {}, each.note)]))) : null;
  return [table, list];
}

function kernelSection(layer) {
  return section("Kernel", el("p", {}, el("code", { class: "kernel" }, layer.kernel || "the runtime itself")),
    layer.why ? el("p", { class: "quiet" }, `${layer.why[0].toUpperCase()}${layer.why.slice(1)}.`) : null,
    ...alternativesOf(layer));
}

function tensorRow(tensor, others) {
  const place = { Arena: tensor.offset !== undefined ? `arena + ${bytesText(tensor.offset)}` : "arena",
    Input: "input of the engine", Output: "output of the engine", Dynamic: "a buffer of its own",
    HostArena: "host arena" }[tensor.place] ?? "";
  return el("li", {}, el("div", { class: "tensor" }, el("code", { title: tensor.name }, cutText(tensor.name, 34)),
    el("span", { class: "type" }, tensor.type)),
    el("div", { class: "quiet" }, `${dimsText(tensor.dims)} · ${bytesText(tensor.bytes)} · ${place}`),
    others.length ? el("div", { class: "to" }, others) : null);
}

function tensorSection(layer) {
  const from = (input) => input.from.map((index) => el("span", {}, "from ", layerLink(index)));
  const readers = layer.readers.slice(0, 8).map((index) => el("span", {}, "to ", layerLink(index)));
  if (layer.readers.length > 8) readers.push(el("span", { class: "quiet" }, `and ${layer.readers.length - 8} more`));
  return [section("Inputs", layer.inputs.length ? el("ul", { class: "tensors" }, layer.inputs.map((input) =>
    tensorRow(input, from(input)))) : el("p", { class: "quiet" }, "None.")),
    section("Outputs", el("ul", { class: "tensors" }, layer.outputs.map((output, i) =>
      tensorRow(output, i ? [] : readers))))];
}

// How near it comes to what the machine can do.
function workSection(layer) {
  const point = rooflineOf(layer);
  const bound = point?.roof === undefined ? undefined : point.isComputeBound ? "arithmetic" : "memory";
  const share = point?.rate ? point.rate / point.roof : point?.bandwidthShare;
  return section("Work", facts(
    ["operations", layer.operations === undefined ? "not counted" : countText(layer.operations, "op")],
    ["bytes moved", bytesText(layer.bytes)],
    point && ["intensity", `${point.intensity.toFixed(point.intensity < 10 ? 2 : 0)} op/byte`],
    point && ["reached", `${countText(point.rate, "op/s")}, ${countText(point.bandwidth, "B/s")}`],
    bound && ["bound by", `${bound}: ${shareText(share)} of ${point.rate ? "the roof" : "its peak"}`],
    point && point.bandwidthShare !== undefined && point.roof === undefined &&
      ["of memory's peak", shareText(point.bandwidthShare)],
    ["weights", layer.weights ? `${bytesText(layer.weights)}, ${shareText(layer.weights / engine().weightsBytes)} of all` : ""],
    ["workspace", layer.workspace ? bytesText(layer.workspace) : ""]));
}

function parameterSection(layer) {
  const entries = Object.entries(layer.parameters);
  if (!entries.length) return null;
  return el("section", {}, el("details", {}, el("summary", {}, "Parameters"), facts(...entries.map(([key, value]) =>
    [key, el("code", {}, typeof value === "string" ? value : JSON.stringify(value))]))));
}

export function layerPanel(layer) {
  const kind = KINDS[layer.kind];
  return [el("header", {}, el("h2", {}, dot(layer.kind), layer.title || layer.name),
    el("code", { class: "name", title: "the layer's name" }, layer.name),
    layer.words ? el("p", { class: "words" }, layer.words) : null,
    engine().detailed ? el("p", { class: "quiet" }, [kind, layer.precision, layer.depth ? "inside a branch or loop" : "",
      `step ${layer.index + 1} of ${layers().length}`].filter(Boolean).join(" · ")) : null),
    timeSection(layer),
    ...(engine().detailed ? [originSection(layer), kernelSection(layer), workSection(layer), ...tensorSection(layer),
      parameterSection(layer)] : [])];
}

export function announce() {
  const layer = selectedLayer();
  byId("announcement").textContent = layer
    ? `${layer.title}, ${layer.name}, kernel ${layer.kernel}, ${timeText(layer.ms)}, ${shareText(layer.share)} of all`
    : "no layer selected";
}


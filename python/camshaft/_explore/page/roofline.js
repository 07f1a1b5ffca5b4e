// Layers by operations per byte and per second, under what the machine can do at most.
import { byId, countText, el, fitCanvas, shareText, timeText } from "./format.js";
import { KINDS, colors, precisionColor } from "./colors.js";
import { data, engine, layers, on, rooflineOf, select, state } from "./state.js";
import { hideTip, showTip } from "./tips.js";

const ROOF_PAD = { left: 74, right: 30, top: 30, bottom: 50 };
let points = [], hoveredPoint = null;

const usesPeaks = () => data.peaks.read && engine().device === "cpu" && engine().times === "measured";

// The peaks of precisions that the engine computes in.
function roofs() {
  if (!usesPeaks()) return [];
  const used = new Set(layers().map((layer) => layer.precision));
  return ["f32", "bf16", "int8"].filter((name) => used.has(name) && data.peaks[name]).map((name) => ({ name,
    rate: data.peaks[name] }));
}

function range(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return logs.length ? [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))] : [0, 1];
}

function axes(width, height, all) {
  const [x0, x1] = range([...all.map((each) => each.point.intensity), 0.1, ...roofs().map((roof) =>
    (roof.rate / data.peaks.read) * 3)]);
  const [y0, y1] = range([...all.map((each) => each.point.rate), ...roofs().map((roof) => roof.rate * 1.4)]);
  const [w, h] = [width - ROOF_PAD.left - ROOF_PAD.right, height - ROOF_PAD.top - ROOF_PAD.bottom];
  return { x0, x1, y0, y1, w, h, x: (value) => ROOF_PAD.left + ((Math.log10(value) - x0) / (x1 - x0)) * w,
    y: (value) => ROOF_PAD.top + h - ((Math.log10(value) - y0) / (y1 - y0)) * h };
}

function drawGrid(context, axis) {
  const ink = colors();
  context.strokeStyle = ink.line;
  context.fillStyle = ink.muted;
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  const bottom = ROOF_PAD.top + axis.h;
  context.textAlign = "center";
  for (let power = axis.x0; power <= axis.x1; ++power) {
    const x = Math.round(axis.x(10 ** power)) + 0.5;
    line(context, x, ROOF_PAD.top, x, bottom);
    context.fillText(powerText(power), x, bottom + 17);
  }
  context.fillText("operations per byte moved", ROOF_PAD.left + axis.w / 2, bottom + 38);
  context.textAlign = "right";
  for (let power = axis.y0; power <= axis.y1; ++power) {
    const y = Math.round(axis.y(10 ** power)) + 0.5;
    line(context, ROOF_PAD.left, y, ROOF_PAD.left + axis.w, y);
    context.fillText(powerText(power), ROOF_PAD.left - 9, y + 4);
  }
  context.textAlign = "left";
  context.fillText("operations per second", ROOF_PAD.left, 16);
}

const powerText = (power) => (power < 0 ? (10 ** power).toFixed(-power) : countText(10 ** power).replace(/\.0+/, ""));

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function drawRoofs(context, axis) {
  const ink = colors(), list = roofs();
  if (!list.length) return;
  const read = data.peaks.read, highest = Math.max(...list.map((roof) => roof.rate));
  context.save();
  context.beginPath();
  context.rect(ROOF_PAD.left, ROOF_PAD.top, axis.w, axis.h);
  context.clip();
  context.lineWidth = 2;
  context.strokeStyle = ink.muted;
  line(context, axis.x(10 ** axis.x0), axis.y(read * 10 ** axis.x0), axis.x(highest / read), axis.y(highest));
  for (const roof of list) {
    context.strokeStyle = precisionColor(roof.name);
    line(context, axis.x(roof.rate / read), axis.y(roof.rate), ROOF_PAD.left + axis.w, axis.y(roof.rate));
  }
  context.restore();
}

// Over the points, with a rim so that they can be read there.
function labelRoofs(context, axis) {
  const ink = colors(), list = roofs(), { read } = data.peaks;
  if (!list.length) return;
  const write = (text, x, y, color) => {
    context.strokeStyle = ink.bg;
    context.lineWidth = 4;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
  };
  context.save();
  context.lineJoin = "round";
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "left";
  for (const roof of list)
    write(`${roof.name} ${countText(roof.rate, "op/s")}`, axis.x(roof.rate / read) + 8, axis.y(roof.rate) - 8,
      precisionColor(roof.name));
  const at = 10 ** (axis.x0 + 0.32), slope = Math.atan2(-axis.h / (axis.y1 - axis.y0), axis.w / (axis.x1 - axis.x0));
  context.translate(axis.x(at), axis.y(read * at) - 7);
  context.rotate(slope);
  write(`memory ${countText(read, "B/s")}`, 0, 0, ink.muted);
  context.restore();
}

export function drawRoofline() {
  if (state.tab !== "roofline") return;
  const all = layers().filter((layer) => !layer.depth).map((layer) => ({ layer, point: rooflineOf(layer) }))
    .filter((each) => each.point && each.point.rate > 0);
  explain(all);  // which takes room
  const { context, width, height } = fitCanvas(byId("rooflineChart"));
  context.clearRect(0, 0, width, height);
  if (!all.length) return void (points = []);
  const axis = axes(width, height, all);
  drawGrid(context, axis);
  drawRoofs(context, axis);
  points = all.map((each) => ({ ...each, x: axis.x(each.point.intensity), y: axis.y(each.point.rate),
    r: 3.5 + 22 * Math.sqrt(each.layer.share) })).sort((a, b) => b.r - a.r);
  for (const each of points) drawPoint(context, each);
  labelRoofs(context, axis);
}

function drawPoint(context, each) {
  const ink = colors(), isMarked = each.layer.index === state.selected || each.layer === hoveredPoint?.layer;
  context.beginPath();
  context.arc(each.x, each.y, each.r, 0, 7);
  context.fillStyle = ink.kind[each.layer.kind];
  context.globalAlpha = isMarked ? 1 : 0.62;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = isMarked ? ink.ink : ink.surface;
  context.lineWidth = isMarked ? 2.5 : 1;
  context.stroke();
}

function explain(shown) {
  const rest = layers().filter((layer) => !layer.depth).length - shown.length;
  const sentences = [];
  if (!shown.length) sentences.push("Nothing to draw: layers need times, operations and sizes.");
  else if (!roofs().length)
    sentences.push(engine().device === "cpu" ? "The peaks of this machine were not measured, so there is no roof." :
      "No peaks of a GPU were measured here, so there is no roof; the points stand by themselves.");
  else sentences.push(`Roofs were measured on this machine with ${data.peaks.threads} threads. A layer on its roof can only ` +
      "become faster by doing less. Operands in the caches lift points over memory's roof, and Winograd's " +
      "over that of arithmetic.");
  if (shown.length && rest)
    sentences.push(`${rest} layers that only move data, or were not counted, are left out. Size is share of time.`);
  byId("rooflineNote").textContent = sentences.join(" ");
  const kinds = [...new Set(shown.map((each) => each.layer.kind))];
  byId("rooflineLegend").replaceChildren(...Object.keys(KINDS).filter((kind) => kinds.includes(kind)).map((kind) =>
    el("span", {}, el("span", { class: "dot", style: { "--color": `var(--${kind})` } }), KINDS[kind])));
}

function pointAt(event) {
  const box = byId("rooflineChart").getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  return [...points].reverse().find((each) => Math.hypot(each.x - x, each.y - y) <= each.r + 2) ?? null;
}

export function startRoofline() {
  const canvas = byId("rooflineChart");
  canvas.addEventListener("pointermove", (event) => {
    const each = pointAt(event);
    canvas.style.cursor = each ? "pointer" : "default";
    if (each !== hoveredPoint) {
      hoveredPoint = each;
      drawRoofline();
    }
    if (!each) return hideTip();
    const { layer, point } = each;
    showTip(event, [layer.title, layer.name, `${timeText(layer.ms)}, ${shareText(layer.share)} of all`,
      `${point.intensity.toFixed(2)} op/byte, ${countText(point.rate, "op/s")}`,
      point.roof ? `${shareText(point.rate / point.roof)} of the roof, ${point.isComputeBound ? "arithmetic" : "memory"}` : ""]);
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const each = pointAt(event);
    if (each) select(each.layer.index, "roofline");
  });
  on("select", drawRoofline);
  on("engine", drawRoofline);
}

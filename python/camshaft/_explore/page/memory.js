// The arena over the steps of a run: what lies where and for how long; below it bytes in use,
// weights and time of each step.
import { byId, bytesText, dimsText, fitCanvas, plural, timeText } from "./format.js";
import { colors } from "./colors.js";
import { engine, layers, on, select, state } from "./state.js";
import { hideTip, showTip } from "./tips.js";

const MEMORY_PAD = { left: 76, right: 20, top: 26 };
const STRIPS = [["In use", "use"], ["Weights", "weights"], ["Time", "time"]];
const STRIP = { height: 62, gap: 26 };
const stepView = { from: 0, to: 1 };
let hoveredBlock = null;

function geometry(width, height) {
  const steps = engine().memory.steps.length || 1;
  const plotHeight = Math.max(120, height - MEMORY_PAD.top - STRIPS.length * (STRIP.height + STRIP.gap) - 18);
  const plotWidth = width - MEMORY_PAD.left - MEMORY_PAD.right;
  const scale = plotWidth / (stepView.to - stepView.from);
  return { steps, plotHeight, plotWidth, scale, arena: Math.max(engine().arenaBytes, 1),
    x: (step) => MEMORY_PAD.left + (step - stepView.from) * scale,
    y: (offset) => MEMORY_PAD.top + plotHeight * (1 - offset / Math.max(engine().arenaBytes, 1)) };
}

const layerOf = (step) => layers()[engine().memory.steps[step]];

function drawAxis(context, g, width) {
  const ink = colors();
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  for (let i = 0; i <= 4; ++i) {
    const at = (g.arena * i) / 4;
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(MEMORY_PAD.left, Math.round(g.y(at)) + 0.5);
    context.lineTo(width - MEMORY_PAD.right, Math.round(g.y(at)) + 0.5);
    context.stroke();
    context.fillStyle = ink.muted;
    context.fillText(bytesText(Math.round(at)), MEMORY_PAD.left - 8, g.y(at) + 4);
  }
  context.textAlign = "left";
  context.fillStyle = ink.ink;
  context.font = "600 12px system-ui, sans-serif";
  context.fillText("Arena, by address", MEMORY_PAD.left, 15);
}

function drawTensors(context, g) {
  const ink = colors(), { blocks, steps } = engine().memory;
  for (const block of blocks) {
    const [x1, x2] = [g.x(block.first), g.x(block.last + 1)];
    if (x2 < MEMORY_PAD.left || x1 > MEMORY_PAD.left + g.plotWidth) continue;
    const top = g.y(block.offset + block.bytes), high = Math.max(1, g.y(block.offset) - top);
    const wide = Math.max(1, x2 - x1 - (x2 - x1 > 4 ? 1 : 0));
    const layer = layers()[steps[block.layer]];
    context.globalAlpha = block.kind === "workspace" ? 0.35 : hoveredBlock === block || layer.index === state.selected ? 1 : 0.78;
    context.fillStyle = ink.kind[layer.kind];
    context.fillRect(x1, top, wide, Math.max(1, high - (high > 3 ? 1 : 0)));
    if (layer.index === state.selected || hoveredBlock === block) {
      context.globalAlpha = 1;
      context.strokeStyle = ink.ink;
      context.lineWidth = 1.5;
      context.strokeRect(x1 + 0.5, top + 0.5, wide - 1, Math.max(1, high - 1));
    }
    if (wide > 70 && high > 16) drawBlockName(context, block, x1, top, wide);
  }
  context.globalAlpha = 1;
}

function drawBlockName(context, block, x, y, width) {
  context.save();
  context.globalAlpha = 1;
  context.beginPath();
  context.rect(x, y, width - 4, 40);
  context.clip();
  context.fillStyle = "#fff";
  context.font = "11px system-ui, sans-serif";
  context.fillText(block.name, x + 6, y + 13);
  context.restore();
}

function valuesOf(what) {
  const { live, steps } = engine().memory;
  if (what === "use") return live;
  return steps.map((index) => (what === "weights" ? layers()[index].weights : layers()[index].ms ?? 0));
}

function drawStrip(context, g, [title, what], row) {
  const ink = colors(), values = valuesOf(what), most = Math.max(...values, 0) || 1;
  const base = MEMORY_PAD.top + g.plotHeight + (row + 1) * (STRIP.height + STRIP.gap);
  const show = what === "time" ? timeText : bytesText;
  context.strokeStyle = ink.line;
  context.strokeRect(MEMORY_PAD.left + 0.5, base - STRIP.height + 0.5, g.plotWidth, STRIP.height);
  context.fillStyle = ink.ink;
  context.font = "600 12px system-ui, sans-serif";
  context.fillText({ use: "In use, of the arena", weights: "Weights each layer reads", time: "Time of each layer" }[what],
    MEMORY_PAD.left, base - STRIP.height - 6);
  context.fillStyle = ink.muted;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  context.fillText(show(most), MEMORY_PAD.left - 8, base - STRIP.height + 10);
  context.fillText("0", MEMORY_PAD.left - 8, base);
  context.textAlign = "left";
  const first = Math.max(0, Math.floor(stepView.from)), last = Math.min(g.steps, Math.ceil(stepView.to));
  for (let step = first; step < last; ++step) {
    const high = (values[step] / most) * (STRIP.height - 4);
    if (high < 0.2) continue;
    context.fillStyle = what === "use" ? ink.edge : ink.kind[layerOf(step).kind];
    context.fillRect(g.x(step), base - high, Math.max(1, g.scale - (g.scale > 4 ? 1 : 0)), high);
  }
}

// Where most of the arena is in use at once.
function drawPeak(context, g) {
  const { live } = engine().memory, ink = colors();
  const most = Math.max(...live), step = live.indexOf(most);
  const x = g.x(step + 0.5);
  if (x < MEMORY_PAD.left || x > MEMORY_PAD.left + g.plotWidth) return;
  context.strokeStyle = context.fillStyle = ink.bad;
  context.setLineDash([4, 4]);
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, MEMORY_PAD.top);
  context.lineTo(x, MEMORY_PAD.top + g.plotHeight + STRIP.height + STRIP.gap);
  context.stroke();
  context.setLineDash([]);
  context.font = "600 12px system-ui, sans-serif";
  const text = `peak ${bytesText(most)} at step ${step + 1}, ${layerOf(step).title}`;
  const onLeft = x + context.measureText(text).width + 10 > MEMORY_PAD.left + g.plotWidth;
  context.textAlign = onLeft ? "right" : "left";
  context.fillText(text, x + (onLeft ? -7 : 7), MEMORY_PAD.top - 11);
  context.textAlign = "left";
}

function drawSelectedStep(context, g) {
  const step = engine().memory.steps.indexOf(state.selected);
  if (step < 0) return;
  context.fillStyle = colors().accent;
  context.globalAlpha = 0.14;
  context.fillRect(g.x(step), MEMORY_PAD.top, Math.max(2, g.scale), g.plotHeight + STRIPS.length * (STRIP.height + STRIP.gap));
  context.globalAlpha = 1;
}

export function drawMemory() {
  if (state.tab !== "memory") return;
  const { context, width, height } = fitCanvas(byId("memoryPlan"));
  context.clearRect(0, 0, width, height);
  const { blocks } = engine().memory;
  byId("memoryNote").hidden = engine().detailed && blocks.length > 0;
  if (!blocks.length) return;
  const g = geometry(width, height);
  drawAxis(context, g, width);
  context.save();
  context.beginPath();
  context.rect(MEMORY_PAD.left, 0, g.plotWidth + 1, height);
  context.clip();
  drawTensors(context, g);
  context.restore();
  STRIPS.forEach((strip, row) => drawStrip(context, g, strip, row));
  drawSelectedStep(context, g);
  drawPeak(context, g);
  context.fillStyle = colors().muted;
  context.font = "11px system-ui, sans-serif";
  context.fillText(`steps ${Math.floor(stepView.from) + 1} to ${Math.ceil(stepView.to)}, in the order they run`, MEMORY_PAD.left, height - 4);
}

function found(event) {
  const canvas = byId("memoryPlan"), box = canvas.getBoundingClientRect();
  const g = geometry(box.width, box.height), x = event.clientX - box.left, y = event.clientY - box.top;
  const step = Math.floor((x - MEMORY_PAD.left) / g.scale + stepView.from);
  if (step < 0 || step >= g.steps || x < MEMORY_PAD.left) return {};
  const offset = (1 - (y - MEMORY_PAD.top) / g.plotHeight) * g.arena;
  const block = engine().memory.blocks.find((each) => step >= each.first && step <= each.last &&
    offset >= each.offset && offset < each.offset + each.bytes);
  return { step, block, isInPlot: y >= MEMORY_PAD.top && y <= MEMORY_PAD.top + g.plotHeight };
}

function hoverMemory(event) {
  const { step, block, isInPlot } = found(event);
  if (hoveredBlock !== (block ?? null)) {
    hoveredBlock = block ?? null;
    drawMemory();
  }
  if (step === undefined) return hideTip();
  const layer = layerOf(step);
  if (!isInPlot || !block)
    return showTip(event, [`step ${step + 1}: ${layer.title}`, layer.name, `${bytesText(engine().memory.live[step])} in use`,
      layer.weights ? `${bytesText(layer.weights)} of weights` : "", layer.ms === undefined ? "" : timeText(layer.ms)]);
  const writer = layerOf(block.layer);
  const tensor = writer.outputs.find((output) => output.name === block.name);
  showTip(event, [block.name, `${bytesText(block.bytes)} at ${bytesText(block.offset)}`,
    tensor ? `${tensor.type} ${dimsText(tensor.dims)}` : "", `written by ${writer.title}`,
    `steps ${block.first + 1} to ${block.last + 1}`]);
}

function zoomSteps(event) {
  event.preventDefault();
  const count = engine().memory.steps.length, box = byId("memoryPlan").getBoundingClientRect();
  const g = geometry(box.width, box.height);
  const at = stepView.from + (event.clientX - box.left - MEMORY_PAD.left) / g.scale;
  if (event.shiftKey) {
    const by = ((event.deltaY + event.deltaX) / g.plotWidth) * (stepView.to - stepView.from);
    const moved = Math.max(-stepView.from, Math.min(count - stepView.to, by));
    Object.assign(stepView, { from: stepView.from + moved, to: stepView.to + moved });
  } else {
    const factor = Math.exp(Math.max(-240, Math.min(240, event.deltaY)) * 0.002);
    stepView.from = Math.max(0, at - (at - stepView.from) * factor);
    stepView.to = Math.min(count, Math.max(stepView.from + 4, at + (stepView.to - at) * factor));
  }
  drawMemory();
}

export function startMemory() {
  const canvas = byId("memoryPlan");
  const all = () => Object.assign(stepView, { from: 0, to: Math.max(1, engine().memory.steps.length) });
  all();
  on("engine", () => {
    all();
    drawMemory();
  });
  on("select", drawMemory);
  canvas.addEventListener("pointermove", hoverMemory);
  canvas.addEventListener("pointerleave", () => {
    hideTip();
    hoveredBlock = null;
    drawMemory();
  });
  canvas.addEventListener("click", (event) => {
    const { step, block, isInPlot } = found(event);
    if (step !== undefined) select(layerOf(block && isInPlot ? block.layer : step).index, "memory");
  });
  canvas.addEventListener("wheel", zoomSteps, { passive: false });
  canvas.addEventListener("dblclick", () => {
    all();
    drawMemory();
  });
  canvas.setAttribute("aria-label", `Memory plan: ${plural(engine().memory.blocks.length, "block")}, ` +
    `${bytesText(engine().arenaBytes)} in all`);
}

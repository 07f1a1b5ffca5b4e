// The optimised graph on a canvas. Only what is in sight is drawn, with as much detail as its size
// on the screen can show.
import { byId, bytesText, dimsText, fitCanvas, shareText, timeText } from "./format.js";
import { colors, heatColor, precisionColor } from "./colors.js";
import { NODE, arrange, layoutGraph } from "./positions.js";
import { engine, layers, on, select, state } from "./state.js";
import { hideTip, showTip } from "./tips.js";
import { Viewport } from "./viewport.js";

const PILL = 40;
const FAR = 0.2, NEAR = 0.56;  // scales below which nodes are blocks, above which they are cards
export const graphView = { drawing: null, nodes: [], byLayer: new Map(), viewport: null, frames: [] };
const drawings = new Map();  // of each engine
let hovered = -1, isQueued = false, fitted = null;

// Inputs, layers, outputs: nodes in an order in which every edge leads forward.
function nodesOf(each) {
  const nodes = [], byLayer = new Map(), edges = [];
  const inputs = each.tensors.filter((tensor) => tensor.isInput), inputNode = new Map();
  for (const tensor of inputs) {
    inputNode.set(tensor.name, nodes.length);
    nodes.push({ io: tensor, title: tensor.name, isInput: true });
  }
  for (const layer of each.layers) {
    byLayer.set(layer.index, nodes.length);
    nodes.push({ layer, title: layer.title });
  }
  for (const layer of each.layers) {
    const to = byLayer.get(layer.index);
    let isFed = false;
    for (const input of layer.inputs) {
      const sources = input.from.map((from) => byLayer.get(from));
      if (inputNode.has(input.binding)) sources.push(inputNode.get(input.binding));
      for (const from of sources) if (from < to) edges.push([from, to]);
      isFed ||= sources.length > 0;
    }
    if (layer.depth && !isFed) edges.push([byLayer.get(layer.parent), to]);
    else if (!each.detailed && layer.index) edges.push([to - 1, to]);  // names alone: as they run
  }
  addOutputs(each, nodes, byLayer, edges);
  return { nodes, byLayer, edges };
}

function addOutputs(each, nodes, byLayer, edges) {
  for (const tensor of each.tensors.filter((one) => !one.isInput)) {
    const writers = each.layers.filter((layer) => layer.outputs.some((output) =>
      output.binding === tensor.name));
    if (!writers.length) continue;
    for (const writer of writers) edges.push([byLayer.get(writer.index), nodes.length]);
    nodes.push({ io: tensor, title: tensor.name, isInput: false });
  }
}

function aspect() {
  const { clientWidth, clientHeight } = byId("graph");
  return clientHeight > 100 ? clientWidth / clientHeight : 1.5;
}

function makeDrawing() {
  if (!drawings.has(state.engine)) {
    const { nodes, byLayer, edges } = nodesOf(engine());
    drawings.set(state.engine, { nodes, byLayer, ...layoutGraph(nodes.length, edges, aspect(), state.inColumns) });
  }
  const drawing = drawings.get(state.engine);
  Object.assign(drawing, arrange(drawing.graph, drawing.levels, drawing.straight, aspect(), state.inColumns));
  Object.assign(graphView, { drawing, nodes: drawing.nodes, byLayer: drawing.byLayer });
}

export function nodeColor(node) {
  if (!node.layer) return colors().muted;
  if (state.color === "time") return heatColor(engine().slowest ? (node.layer.ms ?? 0) / engine().slowest : 0);
  if (state.color === "precision") return precisionColor(node.layer.precision);
  return colors().kind[node.layer.kind];
}

// What is in sight, as columns with their ranks.
function visibleRanks(view, width, height) {
  const { columns, pitch } = graphView.drawing;
  const [left, right] = [-view.x / view.scale, (width - view.x) / view.scale];
  const [top, bottom] = [-view.y / view.scale, (height - view.y) / view.scale];
  return columns.map((column, index) => ({ column, index })).filter(({ column }) =>
    column.right + 120 > left && column.left - 120 < right).map(({ column, index }) => ({ column, index, left, right,
    first: Math.max(column.start, column.start + Math.floor(top / pitch) - 1),
    last: Math.min(column.end - 1, column.start + Math.ceil(bottom / pitch) + 1) }));
}

export function drawGraph() {
  isQueued = false;
  const start = performance.now();
  const { context, width, height } = fitCanvas(byId("graph"));
  context.fillStyle = colors().bg;
  context.fillRect(0, 0, width, height);
  const view = graphView.viewport;
  context.translate(view.x, view.y);
  context.scale(view.scale, view.scale);
  const seen = visibleRanks(view, width, height);
  drawEdges(context, seen, view.scale);
  if (view.scale < FAR) drawBlocks(context, seen, view.scale);
  else drawCards(context, seen, view.scale);
  drawMarks(context, view.scale);
  graphView.frames.push(performance.now() - start);
  if (graphView.frames.length > 600) graphView.frames.shift();
  graphView.drawn?.();
}

export function redrawGraph() {
  if (isQueued || state.tab !== "graph") return;
  isQueued = true;
  requestAnimationFrame(drawGraph);
}

function isReal(node) {
  return node < graphView.drawing.graph.real;
}

// Half of what a node takes from top to bottom: those of inputs and outputs are low.
function halfHeight(node) {
  if (!isReal(node)) return 0;
  return (graphView.nodes[node].layer ? NODE.height : PILL) / 2;
}

// From the bottom of a node to the top of one below, through the gutter where a column ends.
function pathEdge(context, from, to, lane) {
  const { x, y, columns, columnOf, graph } = graphView.drawing;
  const y1 = y[from] + halfHeight(from), y2 = y[to] - halfHeight(to);
  context.moveTo(x[from], y1);
  const column = columns[columnOf[graph.ranks[to]]];
  if (graph.ranks[to] !== column.start) {
    const middle = (y[from] + NODE.height / 2 + y[to] - NODE.height / 2) / 2;
    if (x[from] === x[to]) context.lineTo(x[to], y2);
    else context.bezierCurveTo(x[from], middle + 8, x[to], middle - 8, x[to], y2);
    return;
  }
  const gutter = column.left - 48 + (lane % 7) * 7 - 21, low = y[from] + NODE.height / 2 + 20 + (lane % 4) * 4;
  context.arcTo(x[from], low, gutter, low, 10);
  context.arcTo(gutter, low, gutter, -26, 10);
  context.arcTo(gutter, -26, x[to], -26, 10);
  context.arcTo(x[to], -26, x[to], y2, 10);
  context.lineTo(x[to], y2);
}

function lineEdge(context, from, to) {
  const { x, y } = graphView.drawing;
  context.moveTo(x[from], y[from]);
  context.lineTo(x[to], y[to]);
}

function drawEdges(context, seen, scale) {
  const { graph, levels, x } = graphView.drawing;
  context.strokeStyle = colors().edge;
  context.lineWidth = Math.max(1.5, 0.6 / scale);
  context.beginPath();
  const isFar = scale < FAR;
  for (const { column, first, last, left, right } of seen)
    for (let rank = first; rank <= last + 1 && rank < levels.length; ++rank) {
      const crosses = rank === column.end || rank === column.start;
      levels[rank].forEach((to, lane) => {
        for (const from of graph.up[to]) {
          if (!crosses && (Math.max(x[from], x[to]) < left || Math.min(x[from], x[to]) > right)) continue;
          if (isFar && !crosses) lineEdge(context, from, to);
          else pathEdge(context, from, to, lane);
        }
      });
    }
  context.stroke();
  if (graph.direct.length && !isFar) drawDirect(context, graph.direct.slice(0, 2000), 0.25);
  if (state.selected >= 0 || hovered >= 0) drawTraced(context, scale);
}

function drawDirect(context, edges, alpha) {
  const { x, y } = graphView.drawing;
  context.globalAlpha = alpha;
  context.beginPath();
  for (const [from, to] of edges) {
    const y1 = y[from] + NODE.height / 2, y2 = y[to] - NODE.height / 2;
    context.moveTo(x[from], y1);
    context.bezierCurveTo(x[from], y1 + 60, x[to], y2 - 60, x[to], y2);
  }
  context.stroke();
  context.globalAlpha = 1;
}

// The connections of the layer that is looked at, from its sources and to its readers.
function drawTraced(context, scale) {
  const { graph } = graphView.drawing;
  const nodes = [state.selected >= 0 ? graphView.byLayer.get(state.selected) : -1, hovered].filter((node) => node >= 0);
  context.strokeStyle = colors().accent;
  context.lineWidth = Math.max(2.5, 1.2 / scale);
  context.beginPath();
  for (const node of nodes)
    for (const next of [graph.up, graph.down]) {
      const waiting = [node];
      while (waiting.length) {
        const at = waiting.pop();
        for (const other of next[at]) {
          const lane = graphView.drawing.levels[graph.ranks[next === graph.up ? at : other]].indexOf(
            next === graph.up ? at : other);
          if (next === graph.up) pathEdge(context, other, at, lane);
          else pathEdge(context, at, other, lane);
          if (!isReal(other)) waiting.push(other);
        }
      }
    }
  context.stroke();
  drawDirect(context, graph.direct.filter(([from, to]) => nodes.includes(from) || nodes.includes(to)), 1);
}

function eachNode(seen, visit) {
  const { levels, x, y } = graphView.drawing;
  for (const { first, last, left, right } of seen)
    for (let rank = first; rank <= last; ++rank)
      for (const node of levels[rank])
        if (isReal(node) && x[node] + NODE.width > left && x[node] - NODE.width < right)
          visit(node, x[node] - NODE.width / 2, y[node] - NODE.height / 2);
}

// From afar: blocks of colour, those of one colour together.
function drawBlocks(context, seen, scale) {
  const byColor = new Map();
  eachNode(seen, (node, x, y) => {
    const color = nodeColor(graphView.nodes[node]);
    if (!byColor.has(color)) byColor.set(color, []);
    byColor.get(color).push(x, y);
  });
  const height = Math.max(NODE.height, 1.6 / scale);
  for (const [color, places] of byColor) {
    context.fillStyle = color;
    for (let i = 0; i < places.length; i += 2) context.fillRect(places[i], places[i + 1], NODE.width, height);
  }
}

function drawCards(context, seen, scale) {
  const ink = colors();
  context.textBaseline = "alphabetic";
  eachNode(seen, (index, x, y) => {
    const node = graphView.nodes[index];
    if (node.layer) drawLayer(context, node, x, y, scale, ink);
    else drawPill(context, node, x, y, ink);
  });
}

function drawPill(context, node, x, y, ink) {
  const top = y + (NODE.height - PILL) / 2;
  context.fillStyle = ink.raised;
  context.strokeStyle = ink.line;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(x + 14, top, NODE.width - 28, PILL, PILL / 2);
  context.fill();
  context.stroke();
  context.textAlign = "center";
  context.font = "600 13px system-ui, sans-serif";
  context.fillStyle = ink.ink;
  context.fillText(fitText(context, node, "title", node.title, NODE.width - 60), x + NODE.width / 2, top + 17);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = ink.muted;
  const sizes = dimsText(node.io.runDims ?? node.io.dims);
  context.fillText(`${node.isInput ? "input" : "output"} ${sizes}`, x + NODE.width / 2, top + 31);
  context.textAlign = "left";
}

function drawLayer(context, node, x, y, scale, ink) {
  const { layer } = node;
  const color = nodeColor(node);
  context.beginPath();
  context.roundRect(x, y, NODE.width, NODE.height, 7);
  context.fillStyle = ink.surface;
  context.fill();
  context.fillStyle = context.strokeStyle = color;
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 0.45;
  context.lineWidth = Math.max(1, 0.7 / scale);
  context.stroke();
  context.globalAlpha = 1;
  context.beginPath();
  context.roundRect(x, y, scale < NEAR ? 10 : 6, NODE.height, [7, 0, 0, 7]);
  context.fill();
  if (scale < NEAR) drawTitle(context, node, x, y, ink);
  else drawDetails(context, node, x, y, ink);
  const part = engine().slowest ? (layer.ms ?? 0) / engine().slowest : 0;
  if (part > 0.004) {
    context.fillStyle = heatColor(part);
    context.fillRect(x + 14, y + NODE.height - 6, (NODE.width - 28) * part, 3);
  }
}

// From further away the title alone, larger, on two lines where it needs them.
function drawTitle(context, node, x, y, ink) {
  context.font = "600 20px system-ui, sans-serif";
  context.fillStyle = ink.ink;
  const cut = node.title.lastIndexOf(" + ", 18);
  const isLong = context.measureText(node.title).width > NODE.width - 28 && cut > 0;
  if (!isLong) return context.fillText(fitText(context, node, "large", node.title, NODE.width - 28), x + 20, y + 40);
  context.fillText(fitText(context, node, "large", node.title.slice(0, cut), NODE.width - 28), x + 20, y + 28);
  context.fillStyle = ink.muted;
  context.fillText(fitText(context, node, "large2", node.title.slice(cut + 1), NODE.width - 28), x + 20, y + 53);
}

function drawDetails(context, node, x, y, ink) {
  const { layer } = node;
  const time = layer.ms === undefined ? "" : timeText(layer.ms);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = ink.muted;
  context.textAlign = "right";
  context.fillText(time, x + NODE.width - 10, y + 19);
  const taken = context.measureText(time).width;
  context.textAlign = "left";
  const output = layer.outputs[0];
  const sizes = output ? `${dimsText(output.dims)}  ${layer.precision}` : "";
  context.fillText(fitText(context, node, "sizes", sizes, NODE.width - 26), x + 16, y + 53);
  context.font = "11px ui-monospace, monospace";
  context.fillText(fitText(context, node, "kernel", layer.shortKernel || layer.type, NODE.width - 26), x + 16, y + 37);
  context.font = "600 13px system-ui, sans-serif";
  context.fillStyle = ink.ink;
  context.fillText(fitText(context, node, "title", node.title, NODE.width - 34 - taken), x + 16, y + 19);
}

// As much of a text as there is room for; measured once.
function fitText(context, node, key, text, width) {
  const cache = (node.fits ??= {});
  if (cache[key] !== undefined) return cache[key];
  let shown = text;
  if (context.measureText(text).width > width) {
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
      else high = middle - 1;
    }
    shown = `${text.slice(0, low).trimEnd()}…`;
  }
  return (cache[key] = shown);
}

function drawMarks(context, scale) {
  const { x, y } = graphView.drawing;
  const mark = (node, color, width) => {
    const grown = Math.max(3, 4 / scale) / 2 + width / scale / 2;
    context.strokeStyle = color;
    context.lineWidth = width / scale;
    context.beginPath();
    context.roundRect(x[node] - NODE.width / 2 - grown, y[node] - NODE.height / 2 - grown, NODE.width + 2 * grown,
      NODE.height + 2 * grown, 10);
    context.stroke();
  };
  for (const index of state.found ?? []) mark(graphView.byLayer.get(index), colors().hot, 1.5);
  if (hovered >= 0) mark(hovered, colors().muted, 1.2);
  if (state.selected >= 0) mark(graphView.byLayer.get(state.selected), colors().accent, 2.5);
}

function nodeAt(event) {
  const point = graphView.viewport.toDrawing(graphView.viewport.at(event));
  const { columns, levels, pitch, x, y } = graphView.drawing;
  for (const column of columns) {
    if (point.x < column.left || point.x > column.right) continue;
    const rank = column.start + Math.floor((point.y + (pitch - NODE.height) / 2) / pitch);
    if (rank < column.start || rank >= column.end) return -1;
    return levels[rank].find((node) => isReal(node) && Math.abs(point.x - x[node]) <= NODE.width / 2 &&
      Math.abs(point.y - y[node]) <= NODE.height / 2) ?? -1;
  }
  return -1;
}

function hover(event) {
  const node = event ? nodeAt(event) : -1;
  byId("graph").style.cursor = node >= 0 ? "pointer" : "grab";
  if (node < 0) hideTip();
  else if (graphView.nodes[node].layer) {
    const { layer } = graphView.nodes[node];
    showTip(event, [layer.title, layer.name, layer.kernel, layer.ms === undefined ? "" :
      `${timeText(layer.ms)}, ${shareText(layer.share)} of all`,
      layer.outputs.map((output) => `${output.type} ${dimsText(output.dims)} ${bytesText(output.bytes)}`).join(", ")]);
  }
  if (node === hovered) return;
  hovered = node;
  redrawGraph();
}

export function fitGraph(animated = true) {
  const { drawing, viewport } = graphView;
  const { clientWidth, clientHeight } = byId("graph");
  const pad = { left: 24, right: 24, top: 64, bottom: 40 };
  const scale = Math.min(1, (clientWidth - pad.left - pad.right) / drawing.width,
    (clientHeight - pad.top - pad.bottom) / drawing.height);
  const x = pad.left + (clientWidth - pad.left - pad.right - drawing.width * scale) / 2;
  const y = pad.top + Math.max(0, (clientHeight - pad.top - pad.bottom - drawing.height * scale) / 2);
  viewport.isMoved = false;
  if (animated) viewport.go(x, y, scale);
  else Object.assign(viewport, { x, y, scale });
}

// Brings a layer into sight, large enough to be read.
export function revealLayer(index) {
  const { drawing, viewport } = graphView;
  const node = graphView.byLayer.get(index);
  if (node === undefined) return;
  const { clientWidth, clientHeight } = byId("graph");
  const scale = Math.max(viewport.scale, 0.75);
  const at = { x: drawing.x[node] * viewport.scale + viewport.x, y: drawing.y[node] * viewport.scale + viewport.y };
  const isInSight = at.x > 110 && at.x < clientWidth - 110 && at.y > 90 && at.y < clientHeight - 60;
  if (isInSight && scale === viewport.scale) return redrawGraph();
  viewport.isMoved = true;
  viewport.go(clientWidth / 2 - drawing.x[node] * scale, clientHeight / 2 - drawing.y[node] * scale, scale);
}

export function showGraph(fit) {
  if (state.tab !== "graph") return;
  makeDrawing();
  if (fit || fitted !== state.engine || !graphView.viewport.isMoved) fitGraph(false);
  fitted = state.engine;
  drawGraph();
}

export function startGraph() {
  graphView.viewport = new Viewport(byId("graph"), {
    changed: redrawGraph,
    hovered: hover,
    clicked: (event) => {
      const node = nodeAt(event);
      select(node >= 0 && graphView.nodes[node].layer ? graphView.nodes[node].layer.index : -1, "graph");
    },
    limits: () => {
      const { drawing } = graphView;
      return [Math.min(0.5, 0.5 * byId("graph").clientHeight / drawing.height, 0.5 * byId("graph").clientWidth /
        drawing.width), 3];
    },
  });
  byId("graph").addEventListener("dblclick", (event) => graphView.viewport.zoom(1.8, graphView.viewport.at(event)));
  on("select", (by) => {
    if (state.tab !== "graph" || !graphView.drawing) return;
    if (state.selected >= 0 && by !== "graph") revealLayer(state.selected);
    else redrawGraph();
  });
  on("engine", () => showGraph(true));
}

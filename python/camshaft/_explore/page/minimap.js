// The whole graph in a corner, with what is in sight marked.
import { byId, fitCanvas } from "./format.js";
import { colors } from "./colors.js";
import { graphView, nodeColor } from "./graph.js";
import { NODE } from "./positions.js";
import { on, state } from "./state.js";

let picture = null, placed = null;

function place(width, height) {
  const { drawing } = graphView;
  const scale = Math.min((width - 12) / drawing.width, (height - 12) / drawing.height);
  return { scale, x: (width - drawing.width * scale) / 2, y: (height - drawing.height * scale) / 2 };
}

// Drawn once, and copied from then on.
function paint(width, height) {
  const ratio = window.devicePixelRatio || 1;
  picture = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  const context = picture.getContext("2d");
  context.scale(ratio, ratio);
  placed = place(width, height);
  const { drawing } = graphView;
  for (let node = 0; node < drawing.graph.real; ++node) {
    context.fillStyle = nodeColor(graphView.nodes[node]);
    context.fillRect(placed.x + (drawing.x[node] - NODE.width / 2) * placed.scale,
      placed.y + (drawing.y[node] - NODE.height / 2) * placed.scale,
      Math.max(1, NODE.width * placed.scale), Math.max(0.7, NODE.height * placed.scale));
  }
}

function isAllInSight() {
  const { drawing, viewport } = graphView, { clientWidth, clientHeight } = byId("graph");
  return viewport.x >= 0 && viewport.y >= 0 && viewport.x + drawing.width * viewport.scale <= clientWidth &&
    viewport.y + drawing.height * viewport.scale <= clientHeight;
}

export function drawMinimap() {
  byId("minimap").hidden = isAllInSight();
  if (byId("minimap").hidden) return;
  const { context, width, height } = fitCanvas(byId("minimap"));
  if (!picture) paint(width, height);
  context.clearRect(0, 0, width, height);
  context.drawImage(picture, 0, 0, width, height);
  const { viewport } = graphView, canvas = byId("graph");
  const left = placed.x + (-viewport.x / viewport.scale) * placed.scale;
  const top = placed.y + (-viewport.y / viewport.scale) * placed.scale;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight].map((size) => (size / viewport.scale) * placed.scale);
  context.strokeStyle = colors().accent;
  context.lineWidth = 1.5;
  context.strokeRect(Math.max(1, left), Math.max(1, top), Math.max(3, Math.min(left + w, width - 1) - Math.max(1, left)),
    Math.max(3, Math.min(top + h, height - 1) - Math.max(1, top)));
  if (state.selected < 0) return;
  const node = graphView.byLayer.get(state.selected);
  context.fillStyle = colors().accent;
  context.beginPath();
  context.arc(placed.x + graphView.drawing.x[node] * placed.scale, placed.y + graphView.drawing.y[node] * placed.scale,
    3, 0, 7);
  context.fill();
}

export function forgetMinimap() {
  picture = null;
}

export function startMinimap() {
  graphView.drawn = drawMinimap;
  on("engine", forgetMinimap);
  const canvas = byId("minimap");
  const jump = (event) => {
    if (!(event.buttons & 1)) return;
    const box = canvas.getBoundingClientRect(), { viewport } = graphView, graph = byId("graph");
    const x = (event.clientX - box.left - placed.x) / placed.scale, y = (event.clientY - box.top - placed.y) / placed.scale;
    viewport.x = graph.clientWidth / 2 - x * viewport.scale;
    viewport.y = graph.clientHeight / 2 - y * viewport.scale;
    viewport.settle();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    jump(event);
  });
  canvas.addEventListener("pointermove", jump);
}

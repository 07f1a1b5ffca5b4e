// What the page knows and what is looked at; views hear of changes.

export const data = JSON.parse(document.getElementById("data").textContent);
export const state = { engine: 0, selected: -1, tab: "graph", color: "kind", inColumns: true };

const listeners = {};
export function on(event, listener) {
  (listeners[event] ??= []).push(listener);
}
export function emit(event, detail) {
  for (const listener of listeners[event] ?? []) listener(detail);
}

export const engine = () => data.engines[state.engine];
export const layers = () => engine().layers;
export const selectedLayer = () => layers()[state.selected];

// `by`: who selects, so that a view need not move to what was clicked in it.
export function select(index, by = "") {
  if (index < -1 || index >= layers().length) return;
  state.selected = index;
  emit("select", by);
}

export function showEngine(index, selected = -1) {
  state.engine = index;
  state.selected = selected;
  emit("engine");
  emit("select", "engine");
}

export function showTab(tab) {
  state.tab = tab;
  emit("tab");
}

// What follows from the data: numbers, readers, shares and how slow beside the others.
for (const each of data.engines) {
  each.layers.forEach((layer, index) => {
    layer.index = index;
    layer.depth ??= 0;
    layer.readers = [];
    layer.share = layer.ms && each.totalMs ? layer.ms / each.totalMs : 0;
    layer.shortKernel = layer.kernel.replace(/^[^/]*\//, "");
  });
  for (const layer of each.layers)
    for (const input of layer.inputs)
      for (const from of input.from)
        if (!each.layers[from].readers.includes(layer.index)) each.layers[from].readers.push(layer.index);
  each.bySpeed = each.layers.filter((layer) => layer.ms !== undefined && !layer.depth).sort((a, b) => b.ms - a.ms);
  each.bySpeed.forEach((layer, i) => (layer.place = i + 1));
  each.slowest = each.bySpeed[0]?.ms ?? 0;
  each.title = each.file || each.name || "engine";
}

// Sums of time, layers and bytes by what `of` says of a layer, most time first.
export function totals(layerList, of) {
  const sums = new Map();
  for (const layer of layerList) {
    if (layer.depth) continue;
    const key = of(layer);
    const sum = sums.get(key) ?? { key, ms: 0, count: 0, weights: 0 };
    sum.ms += layer.ms ?? 0;
    sum.count += 1;
    sum.weights += layer.weights;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.ms - a.ms || b.count - a.count);
}

// How a layer stands to the machine's peaks; undefined where something is not known.
export function rooflineOf(layer) {
  if (!layer.ms || !layer.bytes || layer.operations === undefined) return undefined;
  const seconds = layer.ms / 1000;
  const point = { intensity: layer.operations / layer.bytes, rate: layer.operations / seconds,
    bandwidth: layer.bytes / seconds };
  const peak = data.peaks[layer.precision], read = data.peaks.read;
  if (!read || engine().device !== "cpu" || engine().times !== "measured") return point;
  point.bandwidthShare = point.bandwidth / read;
  if (!peak) return point;
  point.roof = Math.min(peak, point.intensity * read);
  point.isComputeBound = point.intensity * read > peak;
  point.rateShare = point.rate / peak;
  return point;
}

// Layers of two engines side by side, by the ONNX nodes whose work they do.

// Groups of layers of both that share nodes: {nodes, layers: [of A, of B]}.
// Layers without a node stand by themselves.
export function alignLayers(engines) {
  const parent = new Map();
  const find = (key) => {
    let root = key;
    while (parent.get(root) !== root) root = parent.get(root);
    for (let at = key; at !== root;) [at] = [parent.get(at), parent.set(at, root)];
    return root;
  };
  const join = (a, b) => {
    for (const key of [a, b]) if (!parent.has(key)) parent.set(key, key);
    parent.set(find(a), find(b));
  };
  engines.forEach((engine, side) => engine.layers.forEach((layer) => {
    if (layer.depth) return;
    const own = `${side} ${layer.index}`;
    join(own, own);
    for (const node of layer.origins) join(own, `node ${node}`);
  }));
  const groups = new Map();
  engines.forEach((engine, side) => engine.layers.forEach((layer) => {
    if (layer.depth) return;
    const root = find(`${side} ${layer.index}`);
    if (!groups.has(root)) groups.set(root, { nodes: new Set(), layers: [[], []] });
    const group = groups.get(root);
    group.layers[side].push(layer);
    for (const node of layer.origins) group.nodes.add(node);
  }));
  return [...groups.values()].map(described);
}

function described(group) {
  const sum = (side, of) => group.layers[side].reduce((total, layer) => total + (of(layer) ?? 0), 0);
  const ms = [0, 1].map((side) => sum(side, (layer) => layer.ms));
  const texts = (of) => [0, 1].map((side) => [...new Set(group.layers[side].map(of))].filter(Boolean).join(", "));
  const main = [...group.layers[0], ...group.layers[1]].sort((a, b) => (b.ms ?? 0) - (a.ms ?? 0))[0];
  return { ...group, nodes: [...group.nodes], ms, delta: ms[1] - ms[0], main,
    kernels: texts((layer) => layer.kernel), precisions: texts((layer) => layer.precision),
    weights: [0, 1].map((side) => sum(side, (layer) => layer.weights)),
    memory: [0, 1].map((side) => sum(side, (layer) => layer.outputs.reduce((all, each) => all + (each.bytes ?? 0), 0))) };
}

export const isMatched = (group) => group.layers[0].length > 0 && group.layers[1].length > 0;

// What one may want to see of all groups.
export const CHOICES = {
  all: ["All", () => true],
  faster: ["Faster in B", (group) => isMatched(group) && group.delta < -0.02 * group.ms[0]],
  slower: ["Slower in B", (group) => isMatched(group) && group.delta > 0.02 * group.ms[0]],
  kernel: ["Other kernel", (group) => isMatched(group) && group.kernels[0] !== group.kernels[1]],
  precision: ["Other precision", (group) => isMatched(group) && group.precisions[0] !== group.precisions[1]],
  onlyA: ["Only in A", (group) => !group.layers[1].length],
  onlyB: ["Only in B", (group) => !group.layers[0].length],
};

// Where nodes of ordered levels lie: straight lines where possible, after Brandes and Köpf ("Fast
// and simple horizontal coordinate assignment"), then cut into columns like those of a newspaper.
import { orderLevels, rankNodes, splitEdges } from "./layout.js";

export const NODE = { width: 208, height: 66 };
const GAP = { node: 26, dummy: 12, rank: 46, column: 96 };
const DUMMY_WIDTH = 8;

// x of each node: the median of four drawings, each pushed to one side.
function assignX(graph, levels) {
  const widthOf = (node) => (node < graph.real ? NODE.width : DUMMY_WIDTH);
  const gapOf = (a, b) => (a < graph.real && b < graph.real ? GAP.node : GAP.dummy);
  const apart = (a, b) => (widthOf(a) + widthOf(b)) / 2 + gapOf(a, b);
  const conflicts = markConflicts(graph, levels);
  const drawings = [];
  for (const downwards of [true, false])
    for (const leftwards of [true, false]) {
      let ordered = downwards ? levels : [...levels].reverse();
      if (!leftwards) ordered = ordered.map((level) => [...level].reverse());
      const root = alignBlocks(graph, ordered, downwards ? graph.up : graph.down, conflicts);
      const x = compactBlocks(graph.ranks.length, ordered, root, apart);
      drawings.push(leftwards ? x : x.map((value) => -value));
    }
  return balance(drawings);
}

// Edges that cross one between two invisible nodes: long lines stay straight, so these bend.
function markConflicts(graph, levels) {
  const conflicts = new Set();
  const place = new Int32Array(graph.ranks.length);
  for (const level of levels) level.forEach((node, i) => (place[node] = i));
  const innerAbove = (node) =>
    node >= graph.real ? graph.up[node].find((each) => each >= graph.real) : undefined;
  for (let rank = 1; rank < levels.length; ++rank) {
    const level = levels[rank], above = levels[rank - 1].length - 1;
    let first = 0, left = 0;
    level.forEach((node, i) => {
      const inner = innerAbove(node);
      if (inner === undefined && i < level.length - 1) return;
      const right = inner === undefined ? above : place[inner];
      for (const scanned of level.slice(first, i + 1))
        for (const up of graph.up[scanned])
          if ((place[up] < left || place[up] > right) && !(up >= graph.real && scanned >= graph.real))
            conflicts.add(up * graph.ranks.length + scanned);
      first = i + 1;
      left = right;
    });
  }
  return conflicts;
}

// Chains of nodes that are to have one x; the root of each node's chain.
function alignBlocks(graph, levels, neighbours, conflicts) {
  const count = graph.ranks.length;
  const root = Int32Array.from({ length: count }, (_, i) => i), next = root.slice();
  const place = new Int32Array(count);
  for (const level of levels) level.forEach((node, i) => (place[node] = i));
  const conflict = (a, b) => conflicts.has(graph.ranks[a] < graph.ranks[b] ? a * count + b : b * count + a);
  for (const level of levels) {
    let last = -1;
    for (const node of level) {
      const near = [...neighbours[node]].sort((a, b) => place[a] - place[b]);
      if (!near.length) continue;
      const middle = (near.length - 1) / 2;
      for (const i of new Set([Math.floor(middle), Math.ceil(middle)])) {
        const other = near[i];
        if (next[node] !== node || last >= place[other] || conflict(node, other)) continue;
        next[other] = node;
        next[node] = root[node] = root[other];
        last = place[other];
      }
    }
  }
  return root;
}

// The leftmost places of chains beside one another. Balanced against the rightmost, that centres
// what is narrow.
function compactBlocks(count, levels, root, apart) {
  const after = new Map(), waiting = new Int32Array(count);
  for (const level of levels)
    for (let i = 1; i < level.length; ++i) {
      const [a, b] = [level[i - 1], level[i]];
      if (!after.has(root[a])) after.set(root[a], []);
      after.get(root[a]).push([root[b], apart(a, b)]);
      waiting[root[b]] += 1;
    }
  const x = new Float64Array(count), order = [];
  for (let node = 0; node < count; ++node) if (root[node] === node && !waiting[node]) order.push(node);
  for (let i = 0; i < order.length; ++i)
    for (const [to, gap] of after.get(order[i]) ?? []) {
      x[to] = Math.max(x[to], x[order[i]] + gap);
      if (--waiting[to] === 0) order.push(to);
    }
  for (let node = 0; node < count; ++node) x[node] = x[root[node]];
  return x;
}

function balance(drawings) {
  const ranges = drawings.map((x) => {
    let [low, high] = [Infinity, -Infinity];
    for (const value of x) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return [low, high];
  });
  const widths = ranges.map(([low, high]) => high - low);
  const [low, high] = ranges[widths.indexOf(Math.min(...widths))];
  const shifts = ranges.map((range, i) => (i % 2 === 0 ? low - range[0] : high - range[1]));
  return Float64Array.from(drawings[0], (_, node) => {
    const four = drawings.map((x, i) => x[node] + shifts[i]).sort((a, b) => a - b);
    return (four[1] + four[2]) / 2;
  });
}

// In a long graph small steps to one side add up to a slope. Where they do, each rank is put below
// the one above it, with no wide gaps in it and drawn a little to the middle.
function straighten(graph, levels, x) {
  const widest = levels.reduce((most, level) => Math.max(most, level.length), 0) * (NODE.width + GAP.node);
  const range = x.reduce((a, b) => Math.max(a, b), -Infinity) - x.reduce((a, b) => Math.min(a, b), Infinity);
  if (range < 2 * widest) return x;
  const straight = new Float64Array(x.length);
  for (const level of levels) {
    const places = [0];
    for (let i = 1; i < level.length; ++i)
      places.push(places[i - 1] + Math.min(x[level[i]] - x[level[i - 1]], NODE.width + 2 * GAP.node));
    let [sum, count] = [0, 0];
    level.forEach((node, i) => {
      for (const above of graph.up[node]) {
        sum += straight[above] - places[i];
        count += 1;
      }
    });
    const shift = count ? sum / count : -places[places.length - 1] / 2;
    const middle = shift + places.reduce((total, place) => total + place, 0) / places.length;
    level.forEach((node, i) => (straight[node] = places[i] + shift - 0.15 * middle));
  }
  return straight;
}

// The ranks at which columns begin, near equal heights and where few lines are cut.
function cutColumns(graph, levels, columns) {
  const cut = levels.map((level) => level.reduce((sum, node) => sum + graph.down[node].length, 0));
  const starts = [0], height = levels.length / columns;
  for (let i = 1; i < columns; ++i) {
    const wanted = Math.round(i * height), reach = Math.floor(height * 0.2);
    let best = wanted;
    for (let rank = wanted - reach; rank <= wanted + reach; ++rank) {
      if (rank <= starts[starts.length - 1] + 2 || rank >= levels.length - 1) continue;
      const score = (at) => (cut[at - 1] ?? Infinity) + Math.abs(at - wanted) / (height + 1);
      if (score(rank) < score(best)) best = rank;
    }
    if (best > starts[starts.length - 1] && best < levels.length) starts.push(best);
  }
  return starts;
}

function placeColumns(graph, levels, x, starts) {
  const pitch = NODE.height + GAP.rank;
  const columns = [], columnOf = new Int32Array(levels.length);
  const place = { x: new Float64Array(x.length), y: new Float64Array(x.length) };
  let left = 0;
  starts.forEach((start, i) => {
    const end = starts[i + 1] ?? levels.length;
    let [low, high] = [Infinity, -Infinity];
    for (const level of levels.slice(start, end))
      for (const node of level) {
        const half = (node < graph.real ? NODE.width : DUMMY_WIDTH) / 2;
        [low, high] = [Math.min(low, x[node] - half), Math.max(high, x[node] + half)];
      }
    columnOf.fill(i, start, end);
    for (let rank = start; rank < end; ++rank)
      for (const node of levels[rank]) {
        place.x[node] = left + x[node] - low;
        place.y[node] = NODE.height / 2 + (rank - start) * pitch;
      }
    columns.push({ start, end, left, right: left + high - low, height: (end - start) * pitch - GAP.rank });
    left += high - low + GAP.column;
  });
  const height = Math.max(...columns.map((column) => column.height));
  return { ...place, columns, columnOf, width: left - GAP.column, height, pitch };
}

// The whole drawing, about `aspect` times as wide as high where it is cut into columns.
export function layoutGraph(count, edges, aspect, inColumns) {
  const graph = splitEdges(count, edges, rankNodes(count, edges));
  const levels = orderLevels(graph);
  const x = straighten(graph, levels, assignX(graph, levels));
  return { graph, levels, straight: x, ...arrange(graph, levels, x, aspect, inColumns) };
}

export function arrange(graph, levels, x, aspect, inColumns) {
  const most = inColumns ? Math.max(1, Math.floor(levels.length / 6)) : 1;
  let best = null;
  for (let columns = 1; columns <= Math.min(most, 160); columns += columns > 20 ? 4 : 1) {
    const placed = placeColumns(graph, levels, x, cutColumns(graph, levels, columns));
    const off = Math.abs(Math.log(placed.width / placed.height / aspect));
    if (!best || off < best.off) best = { ...placed, off };
    else if (placed.width / placed.height > aspect * 2) break;
  }
  return best;
}

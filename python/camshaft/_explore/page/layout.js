// A layered drawing of the graph: ranks, then an order within each rank with few crossings.
// Nodes are numbers in an order in which every edge leads forward.

const MOST_DUMMIES = 40000;  // beyond, the longest connections are drawn straight across
const SWEEPS = 12;

// Each node below all it reads, and near to who reads it.
export function rankNodes(count, edges) {
  const ranks = new Int32Array(count);
  const incoming = new Int32Array(count), outgoing = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    incoming[to] += 1;
    outgoing[from].push(to);
  }
  for (let node = 0; node < count; ++node)
    for (const to of outgoing[node]) ranks[to] = Math.max(ranks[to], ranks[node] + 1);
  for (let node = count - 1; node >= 0; --node) {
    if (!outgoing[node].length || (incoming[node] && outgoing[node].length < incoming[node])) continue;
    let lowest = Infinity;
    for (const to of outgoing[node]) lowest = Math.min(lowest, ranks[to]);
    ranks[node] = Math.max(ranks[node], lowest - 1);
  }
  return ranks;
}

// The graph with an invisible node in each rank that a connection passes. All edges of one node
// share them, so that a tensor that many read is one line with branches.
export function splitEdges(count, edges, ranks) {
  const reach = new Int32Array(count);  // the last rank that each node's edges come to
  for (const [from, to] of edges) reach[from] = Math.max(reach[from], ranks[to]);
  const lengths = Array.from({ length: count }, (_, node) => Math.max(0, reach[node] - ranks[node] - 1));
  const isDirect = new Uint8Array(count);
  let dummies = lengths.reduce((sum, length) => sum + length, 0);
  for (const node of [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a])) {
    if (dummies <= MOST_DUMMIES) break;
    isDirect[node] = 1;
    dummies -= lengths[node];
  }
  const graph = { real: count, ranks: Array.from(ranks), net: Array.from({ length: count }, (_, i) => i),
    up: Array.from({ length: count }, () => []), down: Array.from({ length: count }, () => []), direct: [] };
  const chains = new Map();
  for (const [from, to] of edges) {
    if (isDirect[from] && ranks[to] - ranks[from] > 1) graph.direct.push([from, to]);
    else connect(graph, chainTo(graph, chains, from, ranks[to] - 1), to);
  }
  return graph;
}

// The invisible node of a source in a rank, or the source itself.
function chainTo(graph, chains, from, rank) {
  if (rank <= graph.ranks[from]) return from;
  if (!chains.has(from)) chains.set(from, [from]);
  const chain = chains.get(from);
  while (graph.ranks[chain[chain.length - 1]] < rank) {
    const last = chain[chain.length - 1], node = graph.ranks.length;
    graph.ranks.push(graph.ranks[last] + 1);
    graph.net.push(from);
    graph.up.push([]);
    graph.down.push([]);
    connect(graph, last, node);
    chain.push(node);
  }
  return chain[rank - graph.ranks[from]];
}

function connect(graph, from, to) {
  if (graph.down[from].includes(to)) return;
  graph.down[from].push(to);
  graph.up[to].push(from);
}

// Levels of nodes, left to right: barycentres of neighbours, above and below in turn, and the best
// of what came out.
export function orderLevels(graph) {
  let levels = initialLevels(graph);
  const place = new Float64Array(graph.ranks.length);
  let best = levels, fewest = crossings(graph, levels, place);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; ++sweep) {
    levels = levels.map((level) => level.slice());
    sweepLevels(levels, sweep % 2 ? graph.down : graph.up, sweep % 2 === 1, place);
    const count = crossings(graph, levels, place);
    if (count < fewest) [best, fewest] = [levels, count];
  }
  return best;
}

// Depth first from the top, so that branches lie side by side.
function initialLevels(graph) {
  const levels = Array.from({ length: graph.ranks.reduce((most, rank) => Math.max(most, rank), 0) + 1 }, () => []);
  const seen = new Uint8Array(graph.ranks.length);
  const roots = [...graph.ranks.keys()].sort((a, b) => graph.ranks[a] - graph.ranks[b]);
  for (const root of roots) {
    const stack = [root];
    while (stack.length) {
      const node = stack.pop();
      if (seen[node]) continue;
      seen[node] = 1;
      levels[graph.ranks[node]].push(node);
      for (let i = graph.down[node].length - 1; i >= 0; --i) stack.push(graph.down[node][i]);
    }
  }
  return levels;
}

function sweepLevels(levels, neighbours, upwards, place) {
  for (const level of levels) level.forEach((node, i) => (place[node] = i));
  const order = [...levels.keys()];
  if (upwards) order.reverse();
  for (const rank of order.slice(1)) {
    const level = levels[rank];
    if (level.length < 2) continue;
    const wanted = new Map(level.map((node, i) => {
      const near = neighbours[node];
      return [node, near.length ? near.reduce((sum, each) => sum + place[each], 0) / near.length : i];
    }));
    level.sort((a, b) => wanted.get(a) - wanted.get(b));
    level.forEach((node, i) => (place[node] = i));
  }
}

// Pairs of edges between neighbouring levels that cross: inversions, counted with a tree of sums.
function crossings(graph, levels, place) {
  let total = 0;
  for (const level of levels) level.forEach((node, i) => (place[node] = i));
  for (let rank = 0; rank + 1 < levels.length; ++rank) {
    const size = levels[rank + 1].length;
    if (size < 2 || levels[rank].length < 2) continue;
    const tree = new Int32Array(size + 1);
    let seen = 0;
    for (const node of levels[rank]) {
      const ends = graph.down[node].map((each) => place[each]).sort((a, b) => a - b);
      for (const end of ends) {
        let before = 0;
        for (let i = end + 1; i > 0; i -= i & -i) before += tree[i];
        total += seen - before;
      }
      for (const end of ends) {
        for (let i = end + 1; i <= size; i += i & -i) tree[i] += 1;
        seen += 1;
      }
    }
  }
  return total;
}

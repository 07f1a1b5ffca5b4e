// Layers in rows, to sort and filter. Only rows in sight are in the page, so thousands cost nothing.
import { byId, bytesText, countText, dimsText, el, plural, shareText, timeText } from "./format.js";
import { KINDS } from "./colors.js";
import { bar, dot } from "./panel.js";
import { engine, layers, on, rooflineOf, select, state, totals } from "./state.js";

const ROW = 34, SPARE = 8;

// A table of which the rows in sight are made. `columns`: {label, cell(row), value(row), isNumber}.
export class RowTable {
  constructor(box, columns, { rowClass, clicked, label }) {
    Object.assign(this, { box, columns, rowClass, clicked, rows: [], sort: { column: -1, down: true } });
    this.head = el("tr", {});
    this.body = el("tbody", {});
    box.replaceChildren(el("table", { class: "rows", "aria-label": label }, el("thead", {}, this.head), this.body));
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.drawHead();
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((column, i) => {
      const is = this.sort.column === i;
      return el("th", { scope: "col", class: column.isNumber ? "number" : "",
        "aria-sort": is ? (this.sort.down ? "descending" : "ascending") : "none", style: { width: column.width } },
      el("button", { onclick: () => this.sortBy(i) }, column.label, is ? (this.sort.down ? " ↓" : " ↑") : ""));
    }));
  }

  sortBy(i, down) {
    const is = this.sort.column === i;
    this.sort = { column: i, down: down ?? (is ? !this.sort.down : Boolean(this.columns[i].isNumber)) };
    this.drawHead();
    this.setRows(this.rows);
  }

  setRows(rows) {
    const { column, down } = this.sort;
    this.rows = [...rows];
    if (column >= 0) {
      const { value } = this.columns[column];
      const sign = down ? -1 : 1;
      this.rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === y) return 0;
        if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
        return sign * (x < y ? -1 : 1);
      });
    }
    this.draw();
  }

  draw() {
    const all = matchMedia("print").matches && this.rows.length < 2000;
    const first = all ? 0 : Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE);
    const last = all ? this.rows.length : Math.min(this.rows.length, first + Math.ceil(this.box.clientHeight / ROW) + 2 * SPARE);
    const gap = (count) => el("tr", { "aria-hidden": "true", style: { height: `${count * ROW}px` } });
    this.body.replaceChildren(gap(first), ...this.rows.slice(first, last).map((row, i) => el("tr", {
      class: this.rowClass(row), "aria-rowindex": first + i + 1, onclick: () => this.clicked(row) },
    this.columns.map((column) => el("td", { class: column.isNumber ? "number" : "" }, column.cell(row))))),
    gap(this.rows.length - last));
  }

  reveal(position) {
    const top = position * ROW, { scrollTop, clientHeight } = this.box;
    if (top < scrollTop + ROW || top > scrollTop + clientHeight - 3 * ROW) this.box.scrollTop = top - clientHeight / 2;
    this.draw();
  }
}

const filter = { text: "", kind: "", precision: "" };
let table = null;

const roofShare = (layer) => {
  const point = rooflineOf(layer);
  return point?.roof ? point.rate / point.roof : undefined;
};

const COLUMNS = [
  { label: "#", width: "52px", isNumber: true, value: (layer) => layer.index, cell: (layer) => layer.index + 1 },
  { label: "Layer", width: "186px", value: (layer) => layer.title,
    cell: (layer) => [dot(layer.kind), "  ".repeat(layer.depth), el("b", { title: layer.title }, layer.title)] },
  { label: "Kernel", width: "190px", value: (layer) => layer.kernel,
    cell: (layer) => el("code", { title: layer.kernel }, layer.kernel) },
  { label: "Precision", width: "84px", value: (layer) => layer.precision, cell: (layer) => layer.precision },
  { label: "Output", width: "120px", value: (layer) => layer.outputs[0]?.bytes,
    cell: (layer) => (layer.outputs[0] ? dimsText(layer.outputs[0].dims) : "") },
  { label: "Time", width: "84px", isNumber: true, value: (layer) => layer.ms, cell: (layer) => timeText(layer.ms) },
  { label: "Share", width: "96px", isNumber: true, value: (layer) => layer.share,
    cell: (layer) => [shareText(layer.share), bar(layer.ms / (engine().slowest || 1), `var(--${layer.kind})`)] },
  { label: "Of roof", width: "82px", isNumber: true, value: roofShare, cell: (layer) => shareText(roofShare(layer) ?? NaN) },
  { label: "Operations", width: "104px", isNumber: true, value: (layer) => layer.operations,
    cell: (layer) => countText(layer.operations) },
  { label: "Bytes", width: "88px", isNumber: true, value: (layer) => layer.bytes, cell: (layer) => bytesText(layer.bytes) },
  { label: "Weights", width: "88px", isNumber: true, value: (layer) => layer.weights,
    cell: (layer) => (layer.weights ? bytesText(layer.weights) : "") },
  { label: "Name", value: (layer) => layer.name,
    cell: (layer) => el("span", { class: "quiet", title: layer.name }, layer.name) },
];

export function matches(layer, text) {
  if (!text) return true;
  layer.searched ??= [layer.title, layer.name, layer.type, layer.kernel, layer.precision, layer.words,
    ...layer.origins].join("\n").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => layer.searched.includes(word));
}

export function drawTable() {
  if (state.tab !== "layers") return;
  const rows = layers().filter((layer) => (!filter.kind || layer.kind === filter.kind) &&
    (!filter.precision || layer.precision === filter.precision) && matches(layer, filter.text));
  const ms = rows.reduce((sum, layer) => sum + (layer.depth ? 0 : layer.ms ?? 0), 0);
  byId("tableCount").textContent = `${plural(rows.length, "layer")}${engine().totalMs ?
    `, ${timeText(ms)}, ${shareText(ms / engine().totalMs)} of all` : ""}`;
  table.setRows(rows);
}

function fillChoices() {
  const options = (sums, labels) => [el("option", { value: "" }, "all"), ...sums.map(({ key, count }) =>
    el("option", { value: key }, `${labels?.[key] ?? key} (${count})`))];
  byId("kindFilter").replaceChildren(...options(totals(layers(), (layer) => layer.kind), KINDS));
  byId("precisionFilter").replaceChildren(...options(totals(layers(), (layer) => layer.precision)));
  for (const name of ["kind", "precision"]) byId(`${name}Filter`).value = filter[name];
}

export function filterTable(wanted) {
  Object.assign(filter, { text: "", kind: "", precision: "" }, wanted);
  byId("textFilter").value = filter.text;
  fillChoices();
}

// The next layer as the table has them.
export function neighbourInTable(step) {
  const at = table.rows.findIndex((layer) => layer.index === state.selected);
  return table.rows[Math.max(0, Math.min(table.rows.length - 1, at + step))]?.index ?? -1;
}

export function startTable() {
  table = new RowTable(byId("tableRows"), COLUMNS, { label: "Layers",
    rowClass: (layer) => (layer.index === state.selected ? "selected" : ""),
    clicked: (layer) => select(layer.index, "table") });
  for (const [id, key] of [["textFilter", "text"], ["kindFilter", "kind"], ["precisionFilter", "precision"]])
    byId(id).addEventListener("input", (event) => {
      filter[key] = event.target.value;
      drawTable();
    });
  on("engine", () => {
    filterTable({});
    drawTable();
  });
  on("select", () => {
    if (state.tab !== "layers") return;
    const at = table.rows.findIndex((layer) => layer.index === state.selected);
    if (at >= 0) table.reveal(at);
    else table.draw();
  });
  fillChoices();
}

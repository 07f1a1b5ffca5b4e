// Numbers and words as people read them, and elements of the page.

export function timeText(ms) {
  if (ms === undefined || ms === null) return "–";
  if (ms === 0) return "0 ms";
  if (ms >= 1000) return `${digits(ms / 1000)} s`;
  return ms >= 0.1 ? `${digits(ms)} ms` : `${digits(ms * 1000)} µs`;
}

export function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export function bytesText(bytes) {
  if (bytes === undefined) return "–";
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
    value /= 1024;
    if (value < 1024 || unit === "TiB") return `${digits(value).replace(/\.0+$/, "")} ${unit}`;
  }
  return "";
}

export function countText(count, unit = "") {
  if (count === undefined) return "–";
  for (const [size, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (Math.abs(count) >= size) return `${digits(count / size)} ${prefix}${unit}`;
  return `${digits(count).replace(/\.0+$/, "")} ${unit}`.trim();
}

export function shareText(share) {
  if (!Number.isFinite(share)) return "–";
  return share >= 0.0995 ? `${(share * 100).toFixed(0)} %` : `${(share * 100).toFixed(share >= 0.001 ? 1 : 2)} %`;
}

export const dimsText = (dims) => dims.map((dim) => (dim < 0 ? "?" : dim)).join("×") || "scalar";
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// The text with its middle left out: names of layers differ at their ends.
export function cutText(text, length) {
  if (text.length <= length) return text;
  const head = Math.floor((length - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}

// An element: el("p", {class: "note", onclick: f}, "text", other). Text is never read as HTML.
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style" && typeof value === "object")
      for (const [name, each] of Object.entries(value)) element.style.setProperty(name, each);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

// A canvas fitted to its element at the screen's resolution; the context draws in CSS pixels.
export function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(canvas.clientWidth, 1), height = Math.max(canvas.clientHeight, 1);
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

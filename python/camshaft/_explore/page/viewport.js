// Pan and zoom of a canvas: drag, wheel, pinch. A view is an offset and a scale from the drawing's
// coordinates to the canvas's.

export class Viewport {
  constructor(canvas, { changed, clicked, hovered, limits }) {
    Object.assign(this, { canvas, changed, clicked, hovered, limits, x: 0, y: 0, scale: 1, isMoved: false, pointers: new Map() });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => this.hovered?.(null));
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  // From the canvas to the drawing.
  toDrawing(point) {
    return { x: (point.x - this.x) / this.scale, y: (point.y - this.y) / this.scale };
  }

  zoom(factor, at = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    const [low, high] = this.limits();
    const scale = Math.min(high, Math.max(low, this.scale * factor));
    this.x = at.x - ((at.x - this.x) * scale) / this.scale;
    this.y = at.y - ((at.y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.settle();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.settle();
  }

  // Where the user put it; see `isMoved`.
  settle() {
    this.isMoved = true;
    this.stop();
    this.changed();
  }

  // Glides to a view, or is there at once where people ask for less motion.
  go(x, y, scale) {
    this.stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || !this.canvas.clientWidth) {
      Object.assign(this, { x, y, scale });
      this.changed();
      return;
    }
    const from = { x: this.x, y: this.y, scale: this.scale }, start = performance.now();
    const step = (now) => {
      const part = Math.min(1, (now - start) / 220), eased = 1 - (1 - part) ** 3;
      const of = (a, b) => a + (b - a) * eased;
      Object.assign(this, { x: of(from.x, x), y: of(from.y, y), scale: of(from.scale, scale) });
      this.changed();
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  stop() {
    if (this.gliding) cancelAnimationFrame(this.gliding);
    this.gliding = 0;
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey && !event.ctrlKey) return this.pan(-event.deltaY - event.deltaX, 0);
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoom(Math.exp(-Math.max(-240, Math.min(240, pixels)) * (event.ctrlKey ? 0.008 : 0.002)), this.at(event));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.at(event));
    this.moved = 0;
  }

  move(event) {
    const point = this.at(event), last = this.pointers.get(event.pointerId);
    if (!last) return this.hovered?.(event);
    if (this.pointers.size === 2) this.pinch(event.pointerId, last, point);
    else {
      this.moved += Math.abs(point.x - last.x) + Math.abs(point.y - last.y);
      if (this.moved > 3) this.pan(point.x - last.x, point.y - last.y);
    }
    this.pointers.set(event.pointerId, point);
  }

  pinch(id, last, point) {
    const other = [...this.pointers].find(([each]) => each !== id)[1];
    const distance = (a) => Math.hypot(a.x - other.x, a.y - other.y) || 1;
    this.moved += 10;
    this.zoom(distance(point) / distance(last), { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
  }

  release(event) {
    const was = this.pointers.delete(event.pointerId);
    if (was && event.type === "pointerup" && this.moved <= 3) this.clicked(event);
  }
}

// A small box of text beside the pointer.
import { byId, el } from "./format.js";

// Lines of text; the first is the title.
export function showTip(event, lines) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.filter(Boolean).map((line, i) => el(i ? "div" : "strong", {}, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - width - 8);
  const below = event.clientY + 18 + height < window.innerHeight;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${below ? event.clientY + 18 : event.clientY - height - 10}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}

import { el, onTheme } from "./dom.js";

// A Surface is a canvas that fills its place, is drawn again when its size or the colours change,
// and has a box of text that follows the pointer or the keyboard.
export class Surface {
  // draw(ctx, width, height) draws in CSS pixels. label says for people who see no picture
  // what there is.
  constructor(place, { height, label, draw, minWidth = 0 }) {
    this.draw = draw;
    this.canvas = el("canvas", { role: "img", "aria-label": label, tabIndex: 0 });
    this.tip = el("div", { class: "tip", hidden: true });
    this.live = el("div", { class: "live", "aria-live": "polite" });
    this.box = el("div", { class: "surface" }, this.canvas, this.tip);
    this.scroll = el("div", { class: "scroll" }, this.box);
    place.append(this.scroll, this.live);
    this.height = height;
    this.minWidth = minWidth;
    this.box.style.height = height + "px";
    this.pending = 0;
    new ResizeObserver(() => this.paint()).observe(this.scroll);
    onTheme(() => this.paint());
  }

  // paint draws now.
  paint() {
    const width = Math.max(this.scroll.clientWidth, this.minWidth);
    if (width === 0) return;
    const ratio = globalThis.devicePixelRatio || 1;
    this.box.style.width = width + "px";
    this.canvas.style.width = width + "px";
    this.canvas.style.height = this.height + "px";
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, this.height);
    this.width = width;
    this.draw(ctx, width, this.height);
  }

  // later draws before the next frame, once for many calls.
  later() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  // at returns where a pointer event is, in CSS pixels of the canvas.
  at(event) {
    const r = this.canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  }

  // say shows lines of text at a place; without lines it hides them. spoken says them to who
  // sees no picture too.
  say(x, y, lines, spoken = false) {
    this.tip.hidden = !lines;
    if (!lines) return;
    this.tip.replaceChildren(...lines.map((t) => el("div", {}, t)));
    const w = this.tip.offsetWidth, h = this.tip.offsetHeight;
    this.tip.style.left = Math.max(0, Math.min(x + 12, this.width - w - 4)) + "px";
    this.tip.style.top = (y + h + 16 > this.height ? Math.max(0, y - h - 12) : y + 12) + "px";
    if (spoken) this.live.textContent = lines.join(", ");
  }
}

// font is that of charts: sizes are those of the page's small text.
export function font(size = 12, weight = "") { return `${weight} ${size}px system-ui, sans-serif`.trim(); }

// clip cuts a text to a width in the font of ctx.
export function clip(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let lo = 0, hi = text.length;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (ctx.measureText(text.slice(0, mid) + "…").width <= width) lo = mid;
    else hi = mid - 1;
  }
  return text.slice(0, lo) + "…";
}

import { color, el, onTheme } from "./dom.js";

// A Surface is a canvas that fills its place, is drawn again when its size or the colours change,
// and has a box of text that follows the pointer or the keyboard. A second canvas
// above it has the mark that follows the pointer, so that a hundred thousand marks are not redrawn.
export class Surface {
  // draw(ctx, width, height) draws in CSS pixels, over draws the canvas above. label describes the
  // picture for people who see none.
  /** @param {Element} place @param {{height: number, label: string, draw: Draw, over?: Draw, minWidth?: number}} o */
  constructor(place, { height, label, draw, over, minWidth = 0 }) {
    this.draw = draw;
    this.over = over;
    this.canvas = el("canvas", { role: "img", "aria-label": label, tabIndex: 0 });
    this.upper = el("canvas", { class: "over", "aria-hidden": "true" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.live = el("div", { class: "live", "aria-live": "polite" });
    this.box = el("div", { class: "surface" }, this.canvas, over ? this.upper : null, this.tip);
    this.scroll = el("div", { class: "scroll" }, this.box);
    place.append(this.scroll, this.live);
    this.height = height;
    this.minWidth = minWidth;
    this.width = 0;
    this.pending = 0;
    new ResizeObserver(() => this.paint()).observe(this.scroll);
    onTheme(() => this.paint());
  }

  // paint draws now.
  paint() {
    const width = Math.max(this.scroll.clientWidth, this.minWidth);
    if (width === 0) return;
    this.width = width;
    this.box.style.height = this.height + "px";
    this.box.style.width = width + "px";
    this.draw(this.clear(this.canvas), width, this.height);
    this.point();
  }

  // point draws the mark that follows the pointer.
  point() { if (this.over && this.width > 0) this.over(this.clear(this.upper), this.width, this.height); }

  /** @param {HTMLCanvasElement} canvas */
  clear(canvas) {
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.round(this.width * ratio), height = Math.round(this.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.style.width = this.width + "px";
      canvas.style.height = this.height + "px";
      canvas.width = width;
      canvas.height = height;
    }
    const ctx = context(canvas);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return ctx;
  }

  // later draws before the next frame, once for many calls.
  later() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  /** @param {string} text */
  label(text) { this.canvas.setAttribute("aria-label", text); }

  // at returns where a pointer event is, in CSS pixels of the canvas.
  /** @param {MouseEvent} event @returns {[number, number]} */
  at(event) {
    const r = this.canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  }

  // say shows lines of text at a place; without lines it hides them. A screen reader reads them too
  // if spoken is set.
  /** @param {number} x @param {number} y @param {string[] | null} lines */
  say(x, y, lines, spoken = false) {
    this.tip.hidden = !lines;
    if (!lines) return;
    this.tip.replaceChildren(...lines.map((t) => el("div", {}, t)));
    const w = this.tip.offsetWidth, h = this.tip.offsetHeight;
    this.tip.style.left = Math.max(0, Math.min(x + 12, this.width - w - 4)) + "px";
    this.tip.style.top = (y + h + 16 > this.height ? Math.max(0, y - h - 12) : y + 12) + "px";
    if (spoken) this.live.textContent = lines.join(", ");
  }

  // follow has the pointer and the arrow keys go from mark to mark of spots: the nearest within
  // reach of the pointer, the next and the one before by keyboard. about(i) describes the i-th.
  /** @param {Spots} spots @param {(i: number) => string[]} about @param {number} [reach] */
  follow(spots, about, reach = 24) {
    const show = (/** @type {number} */ i, /** @type {boolean} */ spoken) => {
      spots.chosen = i;
      this.point();
      if (i < 0) this.say(0, 0, null);
      else this.say(spots.x[i], spots.y[i], about(i), spoken);
    };
    const c = this.canvas;
    c.addEventListener("pointermove", (e) => {
      const i = spots.nearest(...this.at(e), reach);
      if (i !== spots.chosen) show(i, false);
    });
    for (const kind of ["pointerleave", "blur"]) c.addEventListener(kind, () => show(-1, false));
    c.addEventListener("keydown", (e) => {
      const at = spots.chosen;
      const to = e.key === "ArrowRight" ? at + 1 : e.key === "ArrowLeft" ? at - 1 : e.key === "Home" ? 0 : e.key === "End" ? spots.n - 1 : null;
      if (e.key === "Escape") return show(-1, false);
      if (to === null || spots.n === 0) return;
      e.preventDefault();
      show(Math.min(Math.max(to, 0), spots.n - 1), true);
    });
  }
}

// Spots are where the marks of a chart are, in the order in which the keyboard goes through them,
// each with a number that identifies it.
export class Spots {
  constructor() {
    /** @type {number[]} */
    this.x = [];
    /** @type {number[]} */
    this.y = [];
    /** @type {number[]} */
    this.of = [];
    this.chosen = -1;
  }

  get n() { return this.x.length; }

  clear() {
    this.x.length = this.y.length = this.of.length = 0;
    return this;
  }

  /** @param {number} x @param {number} y @param {number} of */
  add(x, y, of) {
    this.x.push(x);
    this.y.push(y);
    this.of.push(of);
  }

  // nearest returns the spot that is nearest to a place, -1 if none is within reach.
  /** @param {number} x @param {number} y @param {number} reach */
  nearest(x, y, reach) {
    let best = -1, d = reach * reach;
    for (let i = 0; i < this.x.length; i++) {
      const q = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (q < d) [best, d] = [i, q];
    }
    return best;
  }

  // ring draws a ring around the spot that is chosen.
  /** @param {CanvasRenderingContext2D} ctx @param {string} style */
  ring(ctx, style) {
    if (this.chosen < 0 || this.chosen >= this.n) return;
    ctx.strokeStyle = style;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(this.x[this.chosen], this.y[this.chosen], 8, 0, 2 * Math.PI);
    ctx.stroke();
  }
}

// context returns a canvas's drawing context.
/** @param {HTMLCanvasElement} canvas */
export function context(canvas) { return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")); }

// font returns the charts' font, in the sizes of the page's small text.
export function font(size = 12, weight = "") { return `${weight} ${size}px system-ui, sans-serif`.trim(); }

// halo writes a text that can be read over lines.
/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} x @param {number} y */
export function halo(ctx, text, x, y) {
  ctx.strokeStyle = color("card");
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}

// clip cuts a text to a width in the font of ctx.
/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} width */
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

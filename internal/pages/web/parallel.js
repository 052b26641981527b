import { choice, color, el } from "./dom.js";
import { count, number } from "./format.js";
import { linear, log } from "./scale.js";
import { state } from "./states.js";
import { clip, font, Surface } from "./surface.js";
import { visible } from "./study.js";

// parallel draws a line for each trial through an axis for each parameter and one for the metric.
// A brush on an axis puts a condition on its column of the selection.
export function parallel(place, study, selection) {
  const t = study.trials;
  const dims = study.params.map((p, i) => ({
    key: "p:" + i, name: visible(p.name), values: t.config[i], levels: p.levels ?? null, lo: p.lo, hi: p.hi,
    log: Boolean(p.log && p.lo > 0), canLog: !p.levels && p.lo > 0 && p.hi > p.lo, say: (x) => visible(study.coordinate(i, x)),
  }));
  const own = t.value.filter((v) => v !== null);
  let lo = Infinity, hi = -Infinity;
  for (const v of own) [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
  if (lo > hi) [lo, hi] = [0, 1];
  dims.push({ key: "value", name: study.metric, values: t.value, levels: null, lo, hi, log: lo > 0 && hi > 4 * lo,
    canLog: lo > 0 && hi > lo, say: (x) => study.say(x), goal: true });
  const brushes = new Map(); // key: [from, to] in shares of the axis, from the bottom
  const view = { part: 100, stopped: true };
  // done are the rows of trials that ran to their end within the limits, from worst to best, so that
  // the best are on top. Only these have a rank: of a stopped run nobody knows what it would have had.
  const withValue = t.value.map((_, k) => k).filter((k) => t.value[k] !== null && t.state[k] !== "running");
  const done = withValue.filter((k) => t.state[k] === "done").sort((a, b) => (study.better(t.value[a], t.value[b]) ? 1 : -1));
  const others = withValue.filter((k) => t.state[k] !== "done");
  const rankOf = new Map(done.map((k, i) => [k, done.length > 1 ? i / (done.length - 1) : 1]));

  const status = el("span", { class: "muted", "aria-live": "polite" });
  const clear = el("button", { type: "button", onclick: () => { brushes.clear(); selection.clear(); } }, "clear all conditions");
  place.append(el("div", { class: "bar" },
    choice("trials", [[100, "all"], [50, "best 50 %"], [20, "20 %"], [5, "5 %"], [1, "1 %"]], 100, (v) => { view.part = v; surface.paint(); }),
    others.length ? choice("stopped and outside limits", [[true, "shown"], [false, "left out"]], true,
      (v) => { view.stopped = v; surface.paint(); }) : null, clear, status));
  const logs = el("div", { class: "bar" }, el("span", { class: "label" }, "logarithmic axes"));
  for (const d of dims.filter((x) => x.canLog)) {
    const b = el("button", { type: "button", "aria-pressed": String(d.log), onclick: () => {
      d.log = !d.log;
      b.setAttribute("aria-pressed", String(d.log));
      drop(d.key);
      surface.paint();
    } }, d.name);
    logs.append(b);
  }
  if (logs.children.length > 1) place.append(logs);
  const surface = new Surface(place, { height: 360, minWidth: 84 * dims.length,
    label: `Each of ${withValue.length} trials as a line through its parameters and ${study.metric}. ` +
      "Drag along an axis to choose a range; the fields above the columns of the table of trials do the same by keyboard.", draw });
  const top = 44, base = 30;
  let xs = [], scales = [];

  function shown() {
    const mask = selection.mask();
    const best = done.slice(-Math.max(1, Math.ceil((done.length * view.part) / 100)));
    const of = view.part < 100 ? best : view.stopped ? [...others, ...done] : done;
    return of.map((k) => [k, mask[k] === 1]);
  }

  function draw(ctx, width, height) {
    const left = 46, right = width - 82, bottom = height - base;
    xs = dims.map((_, i) => (dims.length > 1 ? left + (i * (right - left)) / (dims.length - 1) : width / 2));
    scales = dims.map((d) => (d.levels ? linear(-0.5, d.levels.length - 0.5, bottom, top)
      : d.log ? log(d.lo, d.hi, bottom, top) : linear(d.lo, d.hi, bottom, top)));
    const rows = shown();
    const meant = rows.filter(([, m]) => m);
    ctx.lineWidth = 1;
    ctx.strokeStyle = color("faint");
    ctx.globalAlpha = rows.length > 2000 ? 0.25 : 0.6;
    for (const [k, m] of rows) if (!m) path(ctx, k);
    ctx.globalAlpha = meant.length > 3000 ? 0.12 : meant.length > 500 ? 0.3 : meant.length > 100 ? 0.55 : 0.85;
    const from = rgb(color("worst")), to = rgb(color("done"));
    const tones = new Map(["stopped", "outside"].map((name) => [name, color(name)]));
    ctx.lineWidth = meant.length > 500 ? 1 : 1.4;
    for (const [k] of meant) {
      const r = rankOf.get(k);
      ctx.strokeStyle = r === undefined ? tones.get(state(t.state[k]).color)
        : `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * r)).join(",")})`;
      ctx.setLineDash(r === undefined ? [2, 4] : []);
      path(ctx, k);
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    if (study.bestRow >= 0) {
      ctx.strokeStyle = color("best");
      ctx.lineWidth = 3;
      path(ctx, study.bestRow);
    }
    for (const [i, d] of dims.entries()) axis(ctx, i, d, bottom, width);
    status.textContent = `${count(meant.length)} of ${count(withValue.length)} trials with a value`;
    clear.hidden = selection.conditions.size === 0;
  }

  function path(ctx, k) {
    ctx.beginPath();
    for (let i = 0; i < dims.length; i++) {
      const v = dims[i].values[k];
      if (v === null) continue;
      const y = scales[i](v);
      if (i === 0) ctx.moveTo(xs[i], y);
      else ctx.lineTo(xs[i], y);
    }
    ctx.stroke();
  }

  function axis(ctx, i, d, bottom, width) {
    const x = Math.round(xs[i]) + 0.5;
    const room = dims.length > 1 ? xs[1] - xs[0] - 10 : width;
    ctx.strokeStyle = color("axis");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    ctx.fillStyle = color("fg");
    ctx.font = font(12, "600");
    ctx.textBaseline = "bottom";
    const name = clip(ctx, d.name, room);
    const half = ctx.measureText(name).width / 2;
    ctx.textAlign = "center";
    ctx.fillText(name, Math.min(Math.max(x, half + 2), width - half - 2), top - 20);
    ctx.font = font(11);
    ctx.fillStyle = color("muted");
    if (d.log) ctx.fillText("log", x, top - 6);
    let ticks = d.levels ? d.levels.map((_, k) => k) : scales[i].ticks(6, d.goal ? study.unit : "").filter((v) => v >= d.lo && v <= d.hi);
    if (!d.levels && d.hi > d.lo && ticks.length < 2) ticks = [d.lo, d.hi];
    const every = Math.max(1, Math.ceil((ticks.length * 15) / (bottom - top)));
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const [k, v] of ticks.entries()) {
      if (k % every) continue;
      const y = scales[i](v), text = clip(ctx, d.say(v), Math.min(room - 4, d.goal ? 76 : 72)), w = ctx.measureText(text).width;
      ctx.globalAlpha = 0.75;
      ctx.fillStyle = color("card");
      ctx.fillRect(x + 3, y - 7, w + 4, 14);
      ctx.globalAlpha = 1;
      ctx.fillStyle = color("fg");
      ctx.fillText(text, x + 5, y);
    }
    const b = brushes.get(d.key);
    if (b) {
      const y0 = bottom - b[0] * (bottom - top), y1 = bottom - b[1] * (bottom - top);
      ctx.globalAlpha = 0.25;
      ctx.fillStyle = color("accent");
      ctx.fillRect(x - 9, y1, 18, y0 - y1);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = color("accent");
      ctx.strokeRect(x - 9, y1, 18, y0 - y1);
    }
  }

  function drop(key) {
    if (brushes.delete(key)) selection.set(key, null);
  }

  // put makes a condition of the brush on an axis.
  function put(i, a, b) {
    const d = dims[i], bottom = surface.height - base;
    const share = (y) => Math.min(1, Math.max(0, (bottom - y) / (bottom - top)));
    const from = Math.min(share(a), share(b)), to = Math.max(share(a), share(b));
    if (to - from < 0.01) {
      drop(d.key);
      surface.later();
      return;
    }
    brushes.set(d.key, [from, to]);
    const low = scales[i].invert(bottom - from * (bottom - top)), high = scales[i].invert(bottom - to * (bottom - top));
    const text = d.levels ? d.levels.filter((_, k) => k >= low && k <= high).map((l) => "=" + visible(l)).join(",")
      : `${number(low, 4).replace("−", "-")}..${number(high, 4).replace("−", "-")}`;
    selection.set(d.key, { text, test: (k) => d.values[k] !== null && d.values[k] >= low && d.values[k] <= high, brush: true });
  }

  let drag = null;
  const near = (x) => xs.findIndex((at) => Math.abs(at - x) < 18);
  surface.canvas.addEventListener("pointerdown", (e) => {
    const [x, y] = surface.at(e), i = near(x);
    if (i < 0) return;
    e.preventDefault();
    surface.canvas.setPointerCapture(e.pointerId);
    drag = { i, y };
  });
  surface.canvas.addEventListener("pointermove", (e) => {
    const [x, y] = surface.at(e);
    if (drag) return put(drag.i, drag.y, y);
    surface.canvas.style.cursor = near(x) >= 0 ? "ns-resize" : "default";
    const k = nearest(x, y);
    surface.say(x, y, k === null ? null : study.about(k));
  });
  const end = (e) => {
    if (!drag) return;
    put(drag.i, drag.y, surface.at(e)[1]);
    drag = null;
  };
  surface.canvas.addEventListener("pointerup", end);
  surface.canvas.addEventListener("pointercancel", () => { drag = null; });
  surface.canvas.addEventListener("pointerleave", () => surface.say(0, 0, null));
  surface.canvas.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    brushes.clear();
    selection.clear();
  });
  // A condition that was changed elsewhere is no brush any more.
  selection.listen(() => {
    for (const key of [...brushes.keys()]) if (!selection.conditions.get(key)?.brush) brushes.delete(key);
    surface.later();
  });

  // nearest returns the trial whose line passes a point within 5 pixels.
  function nearest(x, y) {
    const i = xs.findIndex((at, k) => x >= at && x <= xs[k + 1]);
    if (i < 0) return null;
    const share = (x - xs[i]) / (xs[i + 1] - xs[i]);
    let best = null, d = 5;
    for (const [k, m] of shown()) {
      if (!m) continue;
      const a = dims[i].values[k], b = dims[i + 1].values[k];
      if (a === null || b === null) continue;
      const q = Math.abs(scales[i](a) * (1 - share) + scales[i + 1](b) * share - y);
      if (q < d) [best, d] = [k, q];
    }
    return best;
  }
}

// rgb reads #rrggbb.
function rgb(text) { return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)); }
